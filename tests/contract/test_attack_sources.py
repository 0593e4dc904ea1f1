"""What authors can do with a source: a short form of verification/attacks/sources.py."""

from unittest import mock

from pillarbox.rendering import sandbox
from tests.contract.service import Service
from verification.attacks.sources import attack

#: One of each kind.
_CONSTANTS = (r'"\ud800"', r'"\ud83d\ude00"', r'"\x00"', "1e999", "0x" + "f" * 5_000, "none", "1")


def test_no_source_breaks_the_service(service: Service) -> None:
    """No door answers with a 5xx, and what is accepted is sent."""
    tally = attack(service, 0, 1, _CONSTANTS)
    assert not tally.failed, tally.findings
    assert (tally["constants"], tally["published"], tally["accepted"]) == (7, 3, 6)


def test_a_constant_that_is_not_checked_is_found(service: Service) -> None:
    """Without the list of constants, those that cannot be rendered are not published either."""
    with mock.patch.object(sandbox, "_check_constant"):
        tally = attack(service, 0, 1, (r'"\ud800"', "1e999"))
    assert (tally["5xx"], tally["published"]) == (0, 0)
