"""Ledgers drawn: sequences, branches, phases."""
