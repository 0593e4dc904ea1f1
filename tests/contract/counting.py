"""Count what a request costs: items that are read and written, and domains that are looked up."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from botocore.client import BaseClient

from pillarbox.adapters.dns import DnsMailDomains
from pillarbox.application.ports import DomainVerdict


@contextmanager
def naming() -> Iterator[list[str]]:
    """Note the names of the calls to AWS within a `with` block."""
    names: list[str] = []
    make_call: Callable[..., Any] = BaseClient._make_api_call  # type: ignore[attr-defined]

    def named_call(client: Any, operation: str, request: dict[str, Any]) -> Any:
        names.append(operation)
        return make_call(client, operation, request)

    with mock.patch.object(BaseClient, "_make_api_call", named_call):
        yield names


@dataclass
class Cost:
    """The items of each read and write, and the domains that the DNS was asked for."""

    reads: list[int] = field(default_factory=list)
    writes: list[int] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)


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
