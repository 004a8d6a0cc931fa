"""A chapter as a learner has it open."""
