"""One call of a tool: its wrapper, the extensions around it, and the loop that makes it."""
