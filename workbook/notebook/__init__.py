"""Notebooks baked, compared and checked."""
