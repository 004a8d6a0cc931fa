"""`python -m labsim.rpc`: the simulated host as a process of its own, as `labsim.server` starts it."""

import sys

from labsim.server.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
