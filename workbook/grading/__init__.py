"""What was handed in, played and graded."""
