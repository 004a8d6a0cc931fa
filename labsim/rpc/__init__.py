"""Dialogs over RPC: a host in another process answers what the simulated agent asks.

Nothing here waits, reads, writes or looks at a clock: bytes, replies and times are arguments.
"""
