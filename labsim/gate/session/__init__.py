"""A live session of the gate: calls in their order, permissions, runs."""
