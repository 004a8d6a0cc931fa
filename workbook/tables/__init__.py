"""Tables of what was played and decided."""
