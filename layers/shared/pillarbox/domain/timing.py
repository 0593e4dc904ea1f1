"""How far clocks may differ. Every rule that compares the times of two machines uses it."""

from datetime import timedelta
from typing import Final

#: The clocks of two machines may differ by this much. AWS keeps clocks within milliseconds; the
#: margin is for one that has lost its synchronization.
#:
#: A lease starts at its owner's clock and ends at the clock of the one who takes it over. So a
#: lease lasts at least as long as its owner may run, plus this margin.
CLOCK_MARGIN: Final = timedelta(seconds=30)
