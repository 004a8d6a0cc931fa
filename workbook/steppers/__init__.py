"""The stepper: one call, a step at a time."""
