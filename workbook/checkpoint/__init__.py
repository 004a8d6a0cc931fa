"""A question that is committed to before it is revealed."""
