"""A chapter: found, read, opened, copied."""
