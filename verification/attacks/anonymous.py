"""Try to make the service work for nobody: wrong keys, refused requests and slow name servers.

The real functions run on emulated AWS with a real name server. Below the SDK every item that is
read or written is counted, and so is every query to the DNS.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import process_time
from typing import Any, Final
from unittest import mock
from uuid import uuid4

from botocore.client import BaseClient

from pillarbox import wiring
from pillarbox.adapters.dns import DnsMailDomains
from pillarbox.application.ports import DomainVerdict
from pillarbox.domain.accounts.key import ACCOUNT_ID_LENGTH, KeyType, account_of_key, new_key_text
from pillarbox.domain.accounts.quota import Limits
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import new_token
from tests.contract.bodies import otp, raw_html
from tests.contract.client import Api
from tests.contract.operations import OPERATIONS, Operation
from tests.contract.service import SENDER, Service
from verification.attacks.tally import Options, Tally, service_alone

#: What a key that does not exist may read: its own record and its account's.
MOST_READS: Final = 2
#: In seconds of CPU, the time of the emulated AWS included.
_SLOW: Final = 2.0
_MANY: Final = 330_000
_IDS: Final = dict.fromkeys(("message_id", "id", "endpoint_id", "delivery_id"), str(uuid4()))
_SUPPRESSED: Final = "gone@slow.example"
_SERVER_ERROR: Final = 500
#: For 60 refused messages of one preview key within a minute.
QUERIES_OF_KEY: Final = "DNS queries of a preview key"


@dataclass
class Cost:
    """What one attempt cost: items read and written, and domains that the DNS was asked for."""

    reads: list[int] = field(default_factory=list)
    writes: list[int] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)


def attempt(
    tally: Tally, codes: tuple[int, ...], call: Callable[..., int], *arguments: object
) -> Cost:
    """Make an attempt, which must end with one of some status codes."""
    began = process_time()
    with counting() as cost:
        status = call(*arguments)
    tally["bad inputs tried"] += 1
    if process_time() - began > _SLOW:
        tally.find("over 2 s of CPU", arguments)
    if status not in codes:
        tally.find("5xx" if status >= _SERVER_ERROR else "other answers", (status, arguments))
    return cost


def _check_reads(tally: Tally, cost: Cost) -> None:
    tally.raise_to("reads at most", sum(cost.reads))
    if sum(cost.reads) > MOST_READS:
        tally.find("costly refusals", cost)


def _check_queries(tally: Tally, cost: Cost) -> None:
    if cost.queries:
        tally.find("DNS queries for refused requests", cost.queries)


@contextmanager
def counting() -> Iterator[Cost]:
    """Count the items and the queries within a `with` block."""
    cost = Cost()
    make_call: Callable[..., Any] = BaseClient._make_api_call  # type: ignore[attr-defined]
    look_up = DnsMailDomains._look_up_one

    def counted_call(client: Any, operation: str, request: dict[str, Any]) -> Any:
        match operation:
            case "BatchGetItem":
                cost.reads += [len(table["Keys"]) for table in request["RequestItems"].values()]
            case "GetItem" | "Query" | "Scan":
                cost.reads.append(1)
            case _:
                cost.writes.append(1)
        return make_call(client, operation, request)

    def counted_look_up(domains: DnsMailDomains, domain: str) -> DomainVerdict:
        cost.queries.append(domain)
        return look_up(domains, domain)

    with (
        mock.patch.object(BaseClient, "_make_api_call", counted_call),
        mock.patch.object(DnsMailDomains, "_look_up_one", counted_look_up),
    ):
        yield cost


def attack(service: Service, keys: int = 20) -> Tally:
    """Make all attempts, some of them with many keys; return what they cost."""
    tally = Tally(
        *("5xx", "other answers", "over 2 s of CPU", "costly refusals", "writes for a forged key"),
        *("DNS queries for refused requests", "further queries for one slow domain"),
    )
    # Windows of a minute must not end between two attempts.
    with service.at(datetime(2026, 3, 14, 15, 9, 26, tzinfo=UTC)):
        _forge_keys(service, tally, keys)
        _send_what_is_refused(service, tally)
        _send_to_a_slow_domain(service, tally, keys)
        _send_to_domains_without_mail(service, tally)
    return tally


def large_bodies() -> dict[str, str]:
    """Return bodies that made the service read or validate a lot, with their paths."""
    many = [f"a{number}@slow.example" for number in range(_MANY)]
    bodies: list[tuple[str, object]] = [
        ("/emails", raw_html(to=many[:50])),
        ("/emails", raw_html(to=many)),
        ("/emails", raw_html(to=many[:3], cc=many, bcc=many)),
        ("/emails/batch", {"messages": [raw_html(to=many)]}),
        ("/emails/batch", {"messages": [raw_html(to=many[:3_300])] * 100}),
        (
            "/emails/batch",
            {"messages": [raw_html(to=many[at * 10 :][:10]) for at in range(100)]},
        ),
        ("/emails/batch", {"messages": [raw_html(templateId=str(uuid4()), html=...)] * 100}),
    ]
    return {json.dumps(body): path for path, body in bodies}


def _forge_keys(service: Service, tally: Tally, keys: int) -> None:
    """Use keys with a valid checksum that do not exist: on every route and over SMTP."""
    account = service.account()
    service.suppress(account, _SUPPRESSED)
    bodies = large_bodies()
    submission = wiring.services().smtp_submission
    octets = f"From: {SENDER}\r\n\r\nHello\r\n".encode()
    real = service.key(account)
    message = submission.prepare(real, ("ada@customer.example",), bytearray(octets))
    for number in range(keys):
        account_id = account if number % 2 else new_token(ACCOUNT_ID_LENGTH)
        key = new_key_text(account_id, list(KeyType)[number // 2 % 2])
        attempts: list[tuple[Any, ...]] = [(_request, key, one) for one in OPERATIONS]
        if number < 2 * len(KeyType):
            attempts += [(_post, key, path, body) for body, path in bodies.items()]
        attempts += [
            (_status, submission.authenticate, key),
            (_status, submission.submit, key, message),
            (_status, submission.submit_all, key, [message] * 20),
        ]
        for call, *arguments in attempts:
            cost = attempt(tally, (401,), call, *arguments)
            _check_reads(tally, cost)
            _check_queries(tally, cost)
            tally["writes for a forged key"] += sum(cost.writes)


def _send_what_is_refused(service: Service, tally: Tally) -> None:
    """Use valid keys for requests that are refused without an answer of the DNS."""
    slow = "x@slow.example"
    poor = Limits(per_minute=0, per_day=None, per_month=None)
    live, preview, over = service.live(), service.preview(), service.live(limits=poor)
    for api in (live, preview, over):
        service.suppress(account_of_key(api.key or "") or "", _SUPPRESSED)
    domains = [f"x@d{number}.slow.example" for number in range(150)]
    emails: list[dict[str, Any]] = [
        otp(to=[slow, "bad"]),
        otp(to=[slow, _SUPPRESSED]),
        otp(to=slow, starterTemplate="nope"),
        otp(to=slow, html="<p>", subject="x"),
        otp(to=[slow] * 51),
        otp(to=slow, fromName="a\nb"),
        otp(to=slow, attachments=[{}] * 11),
    ]
    batches: list[object] = [
        {"messages": [raw_html(to=domains[at : at + 50]) for at in (0, 50, 100)]},
        {"messages": [raw_html(to=[slow])] * 101},
    ]
    bodies = {json.dumps(email): "/emails" for email in emails}
    bodies |= {json.dumps(batch): "/emails/batch" for batch in batches}
    large = {body: path for body, path in large_bodies().items() if len(body) > 10**6}
    for api in (live, preview):
        for body, path in (bodies | large).items():
            cost = attempt(tally, (400, 403, 404, 422), _post, api.key, path, body)
            _check_queries(tally, cost)
            if path == "/emails/batch" or body in large:
                _check_reads(tally, cost)
    for _ in range(3):
        cost = attempt(tally, (429,), _post, over.key, "/emails", json.dumps(otp(to=slow)))
        _check_queries(tally, cost)


def _send_to_a_slow_domain(service: Service, tally: Tally, keys: int) -> None:
    """Let many accounts send to a domain whose name server does not answer."""
    body = json.dumps(otp(to="x@one.slow.example"))
    for number in range(keys):
        cost = attempt(tally, (200,), _post, service.live().key, "/emails", body)
        if cost.queries and number:
            tally.find("further queries for one slow domain", cost.queries)


def _send_to_domains_without_mail(service: Service, tally: Tally, requests: int = 60) -> None:
    """Let one preview key send to ever new domains that accept no mail."""
    key = service.preview().key
    for number in range(requests):
        body = json.dumps(otp(to=f"x@d{number}.nomx.example"))
        cost = attempt(tally, (400, 429), _post, key, "/emails", body)
        tally[QUERIES_OF_KEY] += len(cost.queries)


def _post(key: str, path: str, body: str) -> int:
    return Api(key).raw("POST", path, body).status


def _request(key: str, operation: Operation) -> int:
    return operation.request(Api(key), _IDS).status


def _status(call: Callable[..., object], *arguments: object) -> int:
    try:
        call(*arguments)
    except ServiceError as error:
        return error.status
    return 200


def run(_: Options) -> Tally:
    """Make all attempts with 200 keys."""
    with service_alone() as service:
        return attack(service, keys=200)
