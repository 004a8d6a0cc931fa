"""A class's exports, counted and reported."""
