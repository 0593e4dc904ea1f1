"""How many examples a property tries: few in `make test`, many in `make fuzz`."""

import os
from typing import Final

#: Whether to try many examples, and other ones in each run.
DEEP: Final = bool(os.environ.get("PILLARBOX_DEEP"))


def examples(count: int) -> int:
    """Return the number of examples to try: `count`, or twenty times as many in a deep run."""
    return 20 * count if DEEP else count
