"""The client's end of a pipe to a simulated host."""
