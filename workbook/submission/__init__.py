"""Code that was handed in, run within bounds."""
