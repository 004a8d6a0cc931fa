"""Plays cases: one player for each scenario."""
