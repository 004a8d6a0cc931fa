"""The Review Desk's panel, as pure state."""
