"""Say what a received mail is: its texts, its files, who sent it, and whether it is automatic."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from pillarbox.domain.address import domain_of
from pillarbox.domain.errors import cut
from pillarbox.domain.replies.received import (
    MAX_CONTENT,
    Automatic,
    CalendarAnswer,
    MailVerdict,
    ReceivedContent,
    ReceivedFile,
    Verdicts,
)
from pillarbox.mime.quotation import reply_of
from pillarbox.mime.received import ReceivedPart, ReceivedStructure, decode_text

#: The fields that SES writes above those of the sender, in its order.
_TRACE: Final = (
    "return-path",
    "received",
    "x-ses-spam-verdict",
    "x-ses-virus-verdict",
    "received-spf",
    "authentication-results",
    "x-ses-receipt",
    "x-ses-dkim-signature",
)
_RESULT: Final = re.compile(
    r"\b(spf|dkim|dmarc)=(\w+)(?:[^;]{0,500}?header\.[id]=@?([\w.-]{1,253}))?"
)
_VERDICTS: Final = {
    "pass": MailVerdict.PASS,
    "fail": MailVerdict.FAIL,
    "softfail": MailVerdict.FAIL,
}
#: Of RFC 3834 section 5 and of older programs.
_REPLIES: Final = ("x-autoreply", "x-autorespond", "x-auto-response-suppress")
_REPORTS: Final = frozenset({"message/delivery-status", "message/disposition-notification"})
#: The fields of an invitation that an answer has (RFC 5545 section 3.1).
_CALENDAR: Final = re.compile(r"(?im)^(METHOD|UID|ATTENDEE)((?:;[^:\n]{0,500})?):([^\n]{0,500})")
_STATUS: Final = re.compile(r"(?i);PARTSTAT=([A-Z-]{1,32})")
#: HTML that is longer is cut before it becomes text.
_MAX_HTML: Final = 4 * MAX_CONTENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What SES wrote when it received a mail."""

    #: The envelope's sender; empty for a report.
    return_path: str | None
    verdicts: Verdicts
    #: The domains whose signature was right.
    signed_by: frozenset[str]


def trace_of(structure: ReceivedStructure) -> Trace:
    """Return what SES wrote, and nothing that the sender wrote under the same names.

    SES puts its fields above all others, each once, and ends them with its receipt.
    """
    found: dict[str, str] = {}
    for name, value in structure.fields:
        is_last = "x-ses-receipt" in found and name != "x-ses-dkim-signature"
        if name not in _TRACE or name in found or is_last:
            break
        found[name] = value.decode("utf-8", "replace")
    results = found.get("authentication-results", "")
    if not results.lower().startswith("amazonses.com;"):
        results = ""
    by_name: dict[str, MailVerdict] = {}
    signed_by = set()
    for name, result, domain in _RESULT.findall(results.lower()):
        verdict = _VERDICTS.get(result, MailVerdict.UNKNOWN)
        if (
            by_name.get(name) is not MailVerdict.PASS
        ):  # of several signatures one that is right counts
            by_name[name] = verdict
        if name == "dkim" and verdict is MailVerdict.PASS and domain:
            signed_by.add(domain)
    for name in ("spam", "virus"):
        status = found.get(f"x-ses-{name}-verdict", "").strip().lower()
        by_name[name] = _VERDICTS.get(status, MailVerdict.UNKNOWN)
    path = found.get("return-path")
    return Trace(
        return_path=None if path is None else path.strip().strip("<>"),
        verdicts=Verdicts(**by_name),
        signed_by=frozenset(signed_by),
    )


def is_authenticated(sender: str, trace: Trace) -> bool:
    """Return whether the domain of From vouches for a mail: by DMARC, else by its signature.

    Many domains have no policy of DMARC, and then only the signature of the domain itself, or of
    one above it, says something.
    """
    if trace.verdicts.dmarc is not MailVerdict.UNKNOWN:
        return trace.verdicts.dmarc is MailVerdict.PASS
    domain = domain_of(sender).lower() if "@" in sender else ""
    return any(domain == one or domain.endswith(f".{one}") for one in trace.signed_by)


def automatic_of(structure: ReceivedStructure, trace: Trace) -> Automatic | None:
    """Return what kind of program wrote a mail; None for a person."""
    types = {part.content_type for part in structure.parts}
    if trace.return_path == "" or types & _REPORTS:
        return Automatic.REPORT
    submitted = structure.text("auto-submitted").lower()
    is_reply = submitted not in {"", "no"} or any(map(structure.all, _REPLIES))
    precedence = structure.text("precedence").lower()
    if is_reply or precedence == "auto_reply":
        return Automatic.REPLY
    if structure.all("list-id") or precedence in {"bulk", "list", "junk"}:
        return Automatic.LIST
    return None


def content_of(
    structure: ReceivedStructure, octets: bytes, to_text: Callable[[str], str]
) -> ReceivedContent:
    """Return the texts of a mail. `to_text` makes the text of HTML.

    The texts of parts beside each other are joined, as programs show them: a mail program splits
    the text around a picture.
    """
    texts: list[ReceivedPart] = []
    pages: list[ReceivedPart] = []
    for part in structure.parts:
        if part.is_text:
            (pages if part.content_type == "text/html" else texts).append(part)
    text, html = _joined(texts, octets), _joined(pages, octets)
    written = text if text is not None and text.strip() else None
    if written is None and html is not None:
        written = to_text(html[:_MAX_HTML])
    shown = [_cut(each) for each in (text, html, written and reply_of(written))]
    return ReceivedContent(
        text=shown[0],
        html=shown[1],
        reply=shown[2],
        cut=shown != [text, html, written and reply_of(written)],
        calendar=tuple(_calendars(structure, octets)),
    )


def files_of(structure: ReceivedStructure) -> tuple[ReceivedPart, ...]:
    """Return the parts that are files: all but the texts and what a report says to programs."""
    return tuple(
        part for part in structure.parts if not part.is_text and part.content_type not in _REPORTS
    )


def describe(part: ReceivedPart, size: int) -> ReceivedFile:
    """Return the description of a file of a decoded size."""
    return ReceivedFile(
        filename=part.filename,
        content_type=part.content_type,
        size=size,
        content_id=part.content_id,
        inline=part.disposition != "attachment" and part.content_id is not None,
    )


def _joined(parts: list[ReceivedPart], octets: bytes) -> str | None:
    return "\n".join(decode_text(part, octets) for part in parts) if parts else None


def _cut(text: str | None) -> str | None:
    return text if text is None or len(text.encode()) <= MAX_CONTENT else cut(text, MAX_CONTENT)


def _calendars(structure: ReceivedStructure, octets: bytes) -> Iterator[CalendarAnswer]:
    for part in structure.parts:
        if part.content_type != "text/calendar":
            continue
        unfolded = re.sub(r"\n[ \t]", "", decode_text(part, octets)[:MAX_CONTENT])
        found = {
            name.upper(): (more, value.strip()) for name, more, value in _CALENDAR.findall(unfolded)
        }
        method = found.get("METHOD", ("", ""))[1].upper()
        if method:
            more, attendee = found.get("ATTENDEE", ("", ""))
            status = _STATUS.search(more)
            yield CalendarAnswer(
                method=method,
                uid=found.get("UID", ("", ""))[1] or None,
                attendee=re.sub(r"(?i)^mailto:", "", attendee) or None,
                status=status[1].lower() if status else None,
            )
