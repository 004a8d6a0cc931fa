"""The Review Desk's words, states and events."""
