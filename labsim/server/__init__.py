"""The simulated host as a process: `python -m labsim.rpc`."""
