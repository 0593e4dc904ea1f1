"""Read received mail, for those who may."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from pillarbox.application.change_log import ChangeLog
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


@dataclass(frozen=True, slots=True)
class ReceivedPage:
    """A part of a list, and the id before which the next one begins."""

    items: Sequence[ReceivedMail]
    next: str | None


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
    ) -> ReceivedPage:
        """List an account's received mail, or the answers to an email, the newest first.

        Raises:
            ValidationFailed: on `cursor`.
        """
        if cursor is not None and not is_uuid(cursor):
            message = "must be the nextCursor of a page"
            raise ValidationFailed(FieldError("cursor", message, "invalid_cursor"))
        before = UUID(cursor) if cursor else None
        if message_id is None:
            found = self.records.of_account(account_id, before, limit + 1)
        else:
            found = self.records.answers_to(account_id, message_id, before, limit + 1)
        items = [mail for mail in found[:limit] if self.clock() < mail.kept_until]
        return ReceivedPage(items, str(found[limit - 1].received_id) if found[limit:] else None)

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


def received_not_found() -> ServiceError:
    """Return the error for a received mail that the account does not have."""
    return ServiceError("received_not_found", "The account has received no such mail.")
