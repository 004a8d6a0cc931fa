"""The explorer: a state that a learner sets, and what the engine makes of it."""
