"""Exercises: what is asked for, and what has to hold."""
