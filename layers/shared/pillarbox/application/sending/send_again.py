"""Send the kept content of an email again: a new message, checked as any other."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from pillarbox.application.account_lookup import find_message
from pillarbox.application.change_log import ChangeLog
from pillarbox.application.kept import ContentReading, content_not_found
from pillarbox.application.ports import AcceptedMessage, StoredResponse
from pillarbox.application.sending.acceptance import Acceptance
from pillarbox.application.sending.admission import admit, check_domains, count_refusals
from pillarbox.application.sending.ports import SendingPorts
from pillarbox.application.sending.prepare import PreparedMessage
from pillarbox.application.sending.recipients import Recipients
from pillarbox.application.sending.smtp import read_author
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.account_log import AccountAction
from pillarbox.domain.accounts.key import EMAILS_CONTENT
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.kept import CODES
from pillarbox.domain.messages.mail import Mail, RawBody
from pillarbox.domain.messages.message import Message, SendRoute
from pillarbox.domain.sign_in.session import MemberPrincipal
from pillarbox.mime.fields import Field, read_header

#: Each must be a sender of the account now. A message over SMTP may have both.
_AUTHORS: Final = frozenset({b"from", b"sender"})
#: A new message has its own: the first from its build, the second from SES.
_OWN: Final = frozenset({b"date", b"message-id"})
#: Names the first recipient, whom the link to unsubscribe is about.
_OF_RECIPIENT: Final = frozenset({b"to", b"cc", b"list-unsubscribe", b"list-unsubscribe-post"})

type _Sender = Principal | MemberPrincipal


@dataclass(frozen=True, slots=True, kw_only=True)
class SendAgain:
    """Sends kept content again, to the same recipients or to one other address."""

    ports: SendingPorts
    reading: ContentReading
    log: ChangeLog

    def submit(  # noqa: PLR0913  a message, and what its request has
        self,
        principal: _Sender,
        message_id: UUID,
        to: str | None,
        idempotency_digest: str | None,
        *,
        request_id: str | None,
        write_response: Callable[[AcceptedMessage], str],
    ) -> StoredResponse:
        """Accept a message with the content of another one; an error leaves nothing behind.

        Args:
            principal: who sends, and may send emails.
            to: another address, which gets a copy to read; None for the same recipients.

        Raises:
            ServiceError: `message_not_found`, `not_resendable`, `content_not_found`;
                `scope_required` for another address, if the caller may not read the content; and
                those of a send.
        """
        if isinstance(principal, Principal):
            principal.check_unconfirmed()
            if principal.policy.starters_only:
                text = "Preview keys send starter templates only."
                raise self.ports.preview.upgrade_required(text)
        if to is not None:
            principal.require(EMAILS_CONTENT)
        body_hash = hashlib.sha256(f"{message_id}\n{to or ''}".encode()).hexdigest()
        acceptance = Acceptance(self.ports, principal)
        claim = acceptance.claim(idempotency_digest, body_hash, write_response)
        if isinstance(claim, StoredResponse):
            return claim
        with acceptance.released_on_error(claim):
            prepared = self._prepare(principal, message_id, to, body_hash, request_id)
            account_id, subject = principal.account.account_id, str(message_id)
            self.log.note(account_id, AccountAction.CONTENT_RESENT, subject, by=principal.actor)
            prepared = acceptance.reserve(prepared, claim)
        return acceptance.commit(prepared, claim, write_response(prepared.accepted))

    def _prepare(
        self,
        principal: _Sender,
        message_id: UUID,
        to: str | None,
        body_hash: str,
        request_id: str | None,
    ) -> PreparedMessage:
        """Check sender, recipients, pauses, quota and DNS as they are now, as a send does."""
        account, ports = principal.account, self.ports
        message = self._find(account.account_id, message_id)
        recipients = Recipients.parse(message.recipients if to is None else (to,))
        now = ports.clock()
        origin = replace(
            message.origin,
            route=SendRoute.HTTP,
            key_id=principal.key.key_id if isinstance(principal, Principal) else None,
            request_id=request_id,
            scheduled_at=None,
            held=False,
            for_owner=False,
            resend_of=message_id,
        )
        admit(ports, principal, recipients, origin, now)
        octets, fields = self._read(account, message)
        check_domains(ports, account.account_id, recipients)
        mail = _mail(message, octets, fields, recipients.normalize((to,))[0] if to else None)
        prepared = PreparedMessage.of(mail, account, body_hash, now, origin)
        return prepared.keeping(account, message.keep)

    def _read(self, account: Account, message: Message) -> tuple[bytes, list[Field]]:
        """Read the content and its header; a refusal was costly."""
        try:
            octets = self.reading.find(account, message)
            if octets is None:
                raise content_not_found()
            fields, _ = read_header(octets, 0, len(octets))
            for field in fields:
                if field.name in _AUTHORS:
                    account.check_sends_from(read_author(field).address)
        except ServiceError:
            count_refusals(self.ports, account.account_id, 1)
            raise
        return octets, fields

    def _find(self, account_id: str, message_id: UUID) -> Message:
        message = find_message(self.ports.messages, account_id, message_id)
        if message.origin.starter_template in CODES:
            raise ServiceError(
                "not_resendable",
                "The email has a code or a link by which people sign in. Send a new one.",
            )
        return message


def _mail(message: Message, octets: bytes, fields: Sequence[Field], to: str | None) -> Mail:
    """Return a mail with the content of a message: its octets, with a new date."""
    removed = _OWN if to is None else _OWN | _OF_RECIPIENT
    pieces, position = [b"" if to is None else f"To: {to}\r\n".encode()], 0
    for field in fields:
        if field.name in removed:
            pieces.append(octets[position : field.start])
            position = field.end
    pieces.append(octets[position:])
    return Mail(
        sender=message.sender,
        from_name=message.from_name,
        to=message.to if to is None else (to,),
        cc=message.cc if to is None else (),
        bcc=message.bcc if to is None else (),
        subject=message.subject,
        body=RawBody(octets=b"".join(pieces), has_date=False),
    )
