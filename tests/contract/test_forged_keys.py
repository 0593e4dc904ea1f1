"""What strangers cost: a key that does not exist reads itself and its account, on every door."""

from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from pillarbox import wiring
from pillarbox.domain.accounts.key import KeyType, new_key_text
from pillarbox.domain.errors import ServiceError
from tests.contract.bodies import otp, raw_html
from tests.contract.client import Api
from tests.contract.counting import counting
from tests.contract.operations import OF_AN_ACCOUNT, OPERATIONS, Operation
from tests.contract.service import SENDER, Service
from tests.loops import for_each

if TYPE_CHECKING:
    from collections.abc import Callable

_IDS = dict.fromkeys(OF_AN_ACCOUNT, str(uuid4()))
_MANY = [f"a{number}@slow.example" for number in range(330_000)]
#: What made the service read or validate a lot, with its path.
_LARGE: dict[str, tuple[str, object]] = {
    "many recipients": ("/emails", raw_html(to=_MANY)),
    "many copies": ("/emails", raw_html(to=_MANY[:3], cc=_MANY, bcc=_MANY)),
    "many in each email": ("/emails/batch", {"messages": [raw_html(to=_MANY[:3_300])] * 100}),
    "a hundred emails": (
        "/emails/batch",
        {"messages": [raw_html(to=_MANY[at * 10 :][:10]) for at in range(100)]},
    ),
    "a hundred templates": (
        "/emails/batch",
        {"messages": [raw_html(templateId=str(uuid4()), html=...)] * 100},
    ),
}


@pytest.fixture(scope="module")
def forged(service: Service) -> list[str]:
    """Keys with a valid checksum that do not exist, two of an account that does."""
    account = service.account()
    service.suppress(account, _MANY[0])
    return [new_key_text(one, kind) for one in (account, "0" * 12) for kind in KeyType]


@for_each("operation", OPERATIONS)
def test_a_forged_key_reads_two_items(forged: list[str], operation: Operation) -> None:
    for key in forged:
        with counting() as cost:
            assert operation.request(Api(key), _IDS).status == 401
        assert sum(cost.reads) <= 2
        assert (cost.writes, cost.queries) == ([], [])


@for_each("kind", _LARGE)
def test_a_large_body_of_a_forged_key_reads_no_more(forged: list[str], kind: str) -> None:
    path, body = _LARGE[kind]
    with counting() as cost:
        assert Api(forged[0]).raw("POST", path, body).status == 401
    assert sum(cost.reads) <= 2
    assert (cost.writes, cost.queries) == ([], [])


def test_a_forged_key_reads_two_items_over_smtp(service: Service, forged: list[str]) -> None:
    submission = wiring.services().smtp_submission
    octets = bytearray(f"From: {SENDER}\r\n\r\nHello\r\n".encode())
    real = service.key(service.account())
    message = submission.prepare(real, ("ada@customer.example",), octets)
    tries: list[Callable[[str], object]] = [
        submission.authenticate,
        lambda key: submission.submit(key, message),
        lambda key: submission.submit_all(key, [message] * 20),
    ]
    for key in forged:
        for attempt in tries:
            with counting() as cost, pytest.raises(ServiceError) as refused:
                attempt(key)
            assert refused.value.status == 401
            assert sum(cost.reads) <= 2
            assert (cost.writes, cost.queries) == ([], [])


def test_a_silent_name_server_is_asked_once_for_all_accounts(service: Service) -> None:
    body = otp(to="x@one.slow.example")
    queries = []
    for _ in range(4):
        with counting() as cost:
            assert service.live().send(body).status == 200
        queries += cost.queries
    assert queries == ["one.slow.example"]


def test_a_preview_key_asks_for_twenty_domains_without_mail_a_minute(service: Service) -> None:
    preview, queries = service.preview(), []
    with service.at(wiring.utc_now().replace(second=1)):
        for number in range(30):
            with counting() as cost:
                refused = preview.send(otp(to=f"x@d{number}.nomx.example"))
            assert refused.status == (400 if number < 20 else 429)
            queries += cost.queries
    assert len(queries) == 20


def test_each_item_of_a_batch_is_counted(service: Service) -> None:
    """A valid key's batch reads its recipients, so the counts above can be exceeded."""
    message = raw_html(to=[f"a{number}@customer.example" for number in range(50)])
    with counting() as cost:
        body = {"messages": [message]}
        assert service.live().raw("POST", "/emails/batch", body).status == 200
    assert sum(cost.reads) >= 52
    assert cost.queries == ["customer.example"]
