"""What a case says: typed, and nothing more."""
