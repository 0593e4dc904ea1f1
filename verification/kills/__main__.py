"""The command: `python -m verification.kills`."""

import sys

from verification.kills.run import main

if __name__ == "__main__":
    sys.exit(main())
