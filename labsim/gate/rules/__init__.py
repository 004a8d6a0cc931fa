"""Remembered rules and the stores they live in."""
