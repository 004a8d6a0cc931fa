"""The simulated host: pure decisions, no Jupyter, no wall clock, no network."""
