"""Valid requests for tests to vary."""

import base64
from typing import Any

TO = "ada@customer.example"


def otp(**changes: Any) -> dict[str, Any]:
    """A send by starter template; a change to `...` leaves the field out."""
    return _changed(
        {"to": TO, "starterTemplate": "otp", "variables": {"otp_code": "482913"}}, changes
    )


def raw_html(**changes: Any) -> dict[str, Any]:
    """A send of raw HTML; a change to `...` leaves the field out."""
    return _changed({"to": TO, "html": "<p>Hello</p>", "subject": "Hello"}, changes)


def everything(**changes: Any) -> dict[str, Any]:
    """A send with each field that the emails of other services have too."""
    logo = {"filename": "l.png", "contentType": "image/png", "content": "iVBORw0KGgo="}
    return {
        "to": [TO, "bob@customer.example"],
        "from": "post@sender.example",
        "fromName": "Acme",
        "subject": "hello world",
        "html": '<img src="cid:logo">',
        "text": "it works!",
        "cc": ["cc@customer.example"],
        "bcc": ["bcc@customer.example"],
        "replyTo": "help@sender.example",
        "headers": {"X-Entity-Ref-ID": "1"},
        "tags": {"order": "10442"},
        "attachments": [attachment(), logo | {"inline": True, "contentId": "logo"}],
    } | changes


def attachment(data: bytes = b"%PDF-1.7", /, **changes: Any) -> dict[str, Any]:
    """An attachment; a change to `...` leaves the field out."""
    return _changed(
        {
            "filename": "invoice.pdf",
            "contentType": "application/pdf",
            "content": base64.b64encode(data).decode(),
        },
        changes,
    )


def _changed(body: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in (body | changes).items() if value is not ...}
