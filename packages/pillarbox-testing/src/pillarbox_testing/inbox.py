"""The inbox of the local stack: the emails that Pillarbox has sent since a test began."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

from pillarbox_testing.http import get

_MAX_WAIT: Final = 60.0  # seconds that one request may wait


class NoEmail(AssertionError):
    """No email came, or SES refused it; the text says which and what came instead."""


@dataclass(frozen=True)
class Delivery:
    """What became of an email for one recipient."""

    address: str
    kind: str  #: `to`, `cc` or `bcc`
    outcome: str  #: `delivered`, `bounced`, `complained`, `refused`, …
    reason: str  #: why it was not delivered; else empty


@dataclass(frozen=True)
class Attachment:
    """A file of an email; its content is at `url`."""

    filename: str
    content_type: str
    size: int
    url: str = field(repr=False)


@dataclass(frozen=True)
class Email:
    """An email as its recipients got it."""

    id: str  #: the provider's id
    message_id: str  #: the `messageId` that the API returned
    sender: str  #: the From field
    recipients: tuple[str, ...]
    subject: str
    text: str = field(repr=False)  #: empty if there is none
    html: str = field(repr=False)  #: empty if there is none
    links: tuple[str, ...] = field(repr=False)
    codes: tuple[str, ...]  #: the likeliest first
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    attachments: tuple[Attachment, ...] = field(repr=False)
    deliveries: tuple[Delivery, ...] = field(repr=False)


class Inbox:
    """The emails sent after a moment.

    Args:
        url: the address of the inbox.
        timeout: how many seconds `wait_for` waits by default.
        after: the id of the newest email before the moment; empty: there was none.
    """

    def __init__(self, url: str, timeout: float = 10.0, after: str = "") -> None:
        self.url = url
        self.timeout = timeout
        self._after = after

    def from_now_on(self, timeout: float = 10.0) -> Inbox:
        """Return an inbox that leaves out what was sent before."""
        newest = get(f"{self.url}/messages?limit=1&refused=true")["items"]
        return Inbox(self.url, timeout, newest[0]["id"] if newest else "")

    def wait_for(self, *, to: str = "", subject: str = "", timeout: float | None = None) -> Email:
        """Return the newest email to an address with this text in its subject; wait for it.

        Raises:
            NoEmail: none came within `timeout` seconds, or SES refused it.
        """
        __tracebackhide__ = True
        timeout = self.timeout if timeout is None else timeout
        deadline = time.monotonic() + timeout
        found = None
        while found is None:
            left = deadline - time.monotonic()
            wait = min(max(left, 0.0), _MAX_WAIT)
            found = self._get("/messages/latest", to=to, subject=subject, wait=f"{wait:.3f}")
            if found is None and left <= 0:
                raise NoEmail(self._missing(to, subject, timeout))
        email = self._email(found)
        for delivery in email.deliveries:
            if delivery.outcome == "refused":
                raise NoEmail(f"SES refused {email.subject!r}: {delivery.reason}")
        return email

    def emails(self, *, to: str = "", subject: str = "") -> list[Email]:
        """Return the emails that have come so far, the newest first, refused ones too."""
        items = self._get("/messages", to=to, subject=subject)["items"]
        details = [self._get(f"/messages/{item['id']}") for item in items]
        return [self._email(detail) for detail in details if detail]

    def _get(self, path: str, **query: str) -> Any:  # noqa: ANN401  JSON
        if query:
            query |= {"after": self._after, "refused": "true"}
        text = urlencode({name: value for name, value in query.items() if value})
        return get(f"{self.url}{path}{'?' if text else ''}{text}", timeout=_MAX_WAIT + 30)

    def _missing(self, to: str, subject: str, timeout: float) -> str:
        wanted = " ".join(
            [
                "No email",
                *([f"to {to}"] if to else []),
                *([f"with {subject!r} in its subject"] if subject else []),
                f"came within {timeout:g} seconds.",
            ]
        )
        others = [
            f"  to {', '.join(item['recipients'])}: {item['subject']!r}"
            for item in self._get("/messages", limit="10")["items"]
        ]
        if not others:
            return f"{wanted}\nNone has come since the test began. All emails: {self.url}"
        return "\n".join([wanted, "These have come since the test began:", *others])

    def _email(self, detail: dict[str, Any]) -> Email:
        return Email(
            id=detail["id"],
            message_id=detail["messageId"] or "",
            sender=detail["from"],
            recipients=tuple(detail["recipients"]),
            subject=detail["subject"],
            text=detail["text"] or "",
            html=detail["html"] or "",
            links=tuple(detail["links"]),
            codes=tuple(detail["codes"]),
            headers=tuple((header["name"], header["value"]) for header in detail["headers"]),
            attachments=tuple(
                Attachment(
                    part["filename"] or "",
                    part["contentType"],
                    part["size"],
                    f"{self.url}/messages/{detail['id']}/parts/{part['number']}",
                )
                for part in detail["attachments"]
            ),
            deliveries=tuple(
                Delivery(each["address"], each["kind"], each["outcome"], each.get("reason", ""))
                for each in detail["deliveries"]
            ),
        )
