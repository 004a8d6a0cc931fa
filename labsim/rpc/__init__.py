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
- `adapter`   the dialogs of the engine, on top of the broker

These wait, read and write nothing, and look at no clock. Bytes, replies and times are arguments; frames and settled
dialogs are results. Whoever owns a pipe, a coroutine stage or a browser puts itself around the broker.

For a real client on the other end of a pipe there is a process, `python -m labsim.rpc`. Up to `server` it is just
as pure:

- `commands`      what a client can send, and how it is read
- `extension_ui`  what an extension can call of the UI besides its dialogs
- `rolling`       a ledger that keeps the newest events
- `actions`       what each command does to the desk and the gate
- `server`        one connection: frames in, frames out, whose turn it is
- `host`          the process around it: two pipes, and the real time

And for the client's side, in a notebook or a test:

- `client_errors`  what can go wrong there
- `recording`      the frames as they travelled
- `client`         starts such a process, and plays its client
"""
