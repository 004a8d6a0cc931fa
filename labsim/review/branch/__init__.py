"""Sessions as trees of entries, and the note on the branch that counts."""
