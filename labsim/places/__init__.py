"""Where an event stands: in which lane of a picture, on which step of a list."""
