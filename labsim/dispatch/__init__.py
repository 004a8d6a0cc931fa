"""Dispatch: how a call of `write` reaches another tool through an `xd://` address.

An address is a way to reach a tool that is enabled anyway; it grants nothing.
"""
