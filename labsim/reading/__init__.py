"""Cases read from JSON, strictly, with refusals that say where."""
