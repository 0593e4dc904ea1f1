"""Read received mail, for those who may."""

import re
from base64 import b64encode
from dataclasses import dataclass, replace
from functools import partial
from html import unescape
from typing import Final
from urllib.parse import unquote
from uuid import UUID

from pillarbox.application.change_log import ChangeLog
from pillarbox.application.message_log import ScanPage
from pillarbox.application.ports import Clock
from pillarbox.application.receiving_ports import (
    LinkedFile,
    ReadMail,
    ReceivedMails,
    ReceivedObjects,
)
from pillarbox.application.slow_requests import SlowRequests
from pillarbox.domain.accounts.account_log import AccountAction
from pillarbox.domain.accounts.key import RECEIVED_READ
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed
from pillarbox.domain.ids import is_uuid
from pillarbox.domain.replies import LINK_TIME, ReceivedMail
from pillarbox.domain.sign_in.session import MemberPrincipal

#: How images begin (WHATWG MIME Sniffing, section 6.1), since senders give them any type. These run
#: nothing wherever they are shown; SVG may.
_IMAGES: Final = {
    "image/png": re.compile(rb"\x89PNG"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF.{4}WEBP", re.DOTALL),
}
#: In an attribute, or in the CSS of one or of a sheet, where quotes may be escaped.
_CID: Final = re.compile(
    r"""(?ai)(\b(?:src|background)\s*+=\s*+["']?+|(\burl\(\s*+(?:["']|&[#\w]{2,5};)?+))"""
    r"""cid:((?(2)[^"'\s<>)&]|[^"'\s<>]){1,500})"""
)
#: In octets, of an answer: Lambda allows 6 MB, and escapes make up to seven octets of one.
_MAX_READ: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedReading:
    """Reads received mail. Each reading of a mail is noted in the account's log."""

    records: ReceivedMails
    objects: ReceivedObjects
    slow_requests: SlowRequests
    log: ChangeLog
    clock: Clock

    def page(
        self, account_id: str, limit: int, cursor: str | None, message_id: UUID | None
    ) -> ScanPage[ReceivedMail]:
        """List an account's received mail, or the answers to an email, the newest first."""
        if cursor is not None and not is_uuid(cursor):
            message = "must be the nextCursor of a page"
            raise ValidationFailed(FieldError("cursor", message, "invalid_cursor"))
        before = UUID(cursor) if cursor else None
        if message_id is None:
            found = self.records.of_account(account_id, before, limit + 1)
        else:
            found = self.records.answers_to(account_id, message_id, before, limit + 1)
        items = [mail for mail in found[:limit] if self.clock() < mail.kept_until]
        return ScanPage(items, str(found[limit - 1].received_id) if found[limit:] else None)

    def read(self, principal: Principal | MemberPrincipal, received_id: UUID) -> ReadMail:
        """Return a received mail.

        Raises:
            ServiceError: `rate_limit_exceeded`; `received_not_found`, the same for an unknown one,
                another account's, and one whose days are over.
        """
        principal.require(RECEIVED_READ)
        account_id = principal.account.account_id
        self.slow_requests.take(account_id)
        read = self.find(account_id, received_id)
        if read is None:
            raise received_not_found()
        by = principal.actor
        self.log.note(account_id, AccountAction.RECEIVED_READ, str(received_id), by=by)
        return read

    def find(self, account_id: str, received_id: UUID) -> ReadMail | None:
        """Return a received mail of an account, as it is now."""
        mail, now = self.records.get(account_id, received_id), self.clock()
        if mail is None or now >= mail.kept_until:
            return None
        content = self.objects.content(mail)
        if content is None:
            return None
        return ReadMail(
            mail=mail,
            content=content,
            files=tuple(
                LinkedFile(
                    file,
                    self.objects.sign(mail, number, LINK_TIME),
                    partial(self.objects.file, mail, number),
                )
                for number, file in enumerate(mail.files)
            ),
            raw_url=self.objects.sign(mail, None, LINK_TIME),
            url_until=now + LINK_TIME,
        )


def with_images(read: ReadMail) -> ReadMail:
    """Put data: URLs (RFC 2397) in the place of images that the HTML names by cid: (RFC 2392).

    What has no room stays as it is.
    """
    content = read.content
    texts = "".join(filter(None, (content.text, content.html, content.reply)))
    room = _MAX_READ - 7 * len(texts.encode())
    images = {one.file.content_id: one for one in read.files}
    urls: dict[str, str] = {}

    def show(match: re.Match[str]) -> str:
        nonlocal room
        name = unquote(unescape(match[3]))
        image = images.get(name)
        if image is None or image.read is None or room < 4 * image.file.size // 3:
            return match[0]
        if name not in urls:
            urls[name] = _data_url(image.read() or b"")
        room -= len(urls[name]) or image.file.size
        return match[1] + urls[name] if urls[name] else match[0]

    html = content.html and _CID.sub(show, content.html)
    return replace(read, content=replace(content, html=html))


def _data_url(octets: bytes) -> str:
    """Return an image as a URL; empty for what is none."""
    kind = next((kind for kind, start in _IMAGES.items() if start.match(octets)), "")
    return kind and f"data:{kind};base64,{b64encode(octets).decode()}"


def received_not_found() -> ServiceError:
    return ServiceError("received_not_found", "The account has received no such mail.")
