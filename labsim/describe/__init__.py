"""Ledgers in words."""
