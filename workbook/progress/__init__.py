"""What a learner's record adds up to."""
