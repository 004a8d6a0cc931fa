"""Dispatch: how a call of `write` reaches another tool through an `xd://` address (spec/dispatch.md).

Above `wrapper`, below the scenarios and `play`. An address is a way to reach a tool that is enabled anyway; it
grants nothing. From the outside in:

- `write`       the tool: its gate in front, its routes behind
- `gate`        what `write` declares for one call (G1 to G11)
- `addresses`   what a path names; near misses
- `devices`     which tools can be reached, and by which name
- `dispatching` one dispatch: resolve, read, judge, pass on to the device's own gate
- `content`, `arguments`, `schema`, `repairs`, `complaint`   from text to validated arguments
- `docs`        listing and documentation of devices
- `resolution`, `reports`   the devices that are no tools
- `events`      what happened on the way, step by step; `labsim.nesting` tells the two gates apart
- `files`       ordinary files, in memory
"""
