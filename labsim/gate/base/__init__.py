"""The gate's words, terms, errors and requests."""
