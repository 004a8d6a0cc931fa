"""Who the learner is, and what is kept of their work."""
