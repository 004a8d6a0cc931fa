"""A played case for showing: its rows, its fields, and claims about them."""
