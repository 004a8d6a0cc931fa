"""The engine against recorded answers, and against the clock."""
