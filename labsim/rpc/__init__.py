"""Dialogs over RPC: a host in another process answers what the simulated agent asks.

From the bottom up, each module importing only from those before it:

- `frames`    the records of protocol 1
- `incoming`  what a frame from the host is: control frame, command, or neither
- `lines`     bytes to frames and back: one JSON value a line, the 1 MiB limit
- `dialogs`   what a caller asks, the frame it becomes, and how a reply to it is read
- `broker`    the open dialogs: which reply, abort, timer or disconnect settles which, and how
- `ledger`    the events of one played script
- `script`    an `rpc` case, read and checked
- `scenario`  plays that script against the broker

Nothing here waits, reads, writes or looks at a clock. Bytes, replies and times are arguments; frames and
settled dialogs are results. Whoever owns a pipe, a coroutine stage or a browser puts itself around the broker.
"""
