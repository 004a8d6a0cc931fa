"""Many calls under other settings."""
