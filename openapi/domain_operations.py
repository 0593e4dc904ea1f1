"""The examples of the domains and the senders of an account."""

from functools import partial
from typing import Any, Final

from openapi.operation import example

_AT: Final = "2026-01-01T12:00:00.000+00:00"
_RECORDS: Final = (
    {
        "purpose": "OWNERSHIP",
        "type": "TXT",
        "host": "qh4ybvcvbqzk._pillarbox.shop.example",
        "value": "pillarbox-account=qh4ybvcvbqzk",
    },
    {
        "purpose": "DKIM",
        "type": "CNAME",
        "host": f"{'a' * 32}._domainkey.shop.example",
        "value": f"{'a' * 32}.dkim.amazonses.com",
    },
)
_DOMAIN: Final = {
    "domain": "shop.example",
    "status": "pending",
    "mailFrom": "mail",
    "createdAt": _AT,
    "checkedAt": _AT,
    "receives": None,
    "receiveNames": [],
    "records": [*_RECORDS],
}
_CHECKED: Final = _DOMAIN | {
    "records": [
        _RECORDS[0]
        | {"dns": {"status": "present", "values": [_RECORDS[0]["value"]], "advice": ""}},
        _RECORDS[1] | {"dns": {"status": "missing", "values": [], "advice": ""}},
    ]
}
_TOKEN: Final = f"pbd_qh4ybvcvbqzk{'0' * 32}_shop.example"
_SENDER: Final = {"address": "hello@shop.example", "verified": True, "default": True}


_of_domains: Final[partial[dict[str, Any]]] = partial(dict, tag="Domains")

DOMAINS: Final = (
    _of_domains(id="list_domains", response_example={"items": [_DOMAIN]}),
    _of_domains(
        id="add_domain",
        budgets=("domains",),
        body_examples=example("domain", "A domain", {"domain": "shop.example"}),
        response_example=_DOMAIN | {"records": [_RECORDS[0]]},
    ),
    _of_domains(id="get_domain", budgets=("slow",), response_example=_CHECKED),
    _of_domains(id="restart_domain", budgets=("slow",), response_example=_CHECKED),
    _of_domains(
        id="change_domain",
        budgets=("slow",),
        body_examples=example("in", "Receive answers", {"receive": "in"})
        | example("off", "Receive nothing", {"receive": ""}),
        response_example=_CHECKED | {"receives": "in.shop.example"},
    ),
    _of_domains(id="remove_domain", budgets=("requests",)),
    _of_domains(
        id="share_domain",
        budgets=("requests",),
        response_example={
            "url": f"https://pillarbox.example/app/dns#{_TOKEN}",
            "expiresAt": "2026-01-15T12:00:00.000+00:00",
        },
    ),
    _of_domains(id="end_domain_link", budgets=("requests",)),
    _of_domains(
        id="open_domain_link",
        budgets=("domain-link",),
        body_examples=example("link", "A link", {"token": _TOKEN}),
        response_example={
            "domain": "shop.example",
            "status": "pending",
            "expiresAt": "2026-01-15T12:00:00.000+00:00",
            "records": _CHECKED["records"],
        },
    ),
    _of_domains(id="list_senders", response_example={"items": [_SENDER]}),
    _of_domains(
        id="add_sender",
        budgets=("slow",),
        body_examples=example("address", "An address", {"address": "hello@shop.example"}),
        response_example=_SENDER,
    ),
    _of_domains(id="set_default_sender", budgets=("requests",), response_example=_SENDER),
    _of_domains(id="remove_sender", budgets=("requests",)),
)
