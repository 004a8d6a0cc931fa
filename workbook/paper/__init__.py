"""Worksheets for paper."""
