"""Answer a received mail: a new email to its writer, which mail programs show below it."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from uuid import UUID

from pillarbox.application.ports import AcceptedMessage, StoredResponse
from pillarbox.application.received import received_not_found
from pillarbox.application.receiving_ports import ReceivedMails
from pillarbox.application.sending.acceptance import Acceptance
from pillarbox.application.sending.admission import admit, check_domains
from pillarbox.application.sending.ports import SendingPorts
from pillarbox.application.sending.prepare import PreparedMessage
from pillarbox.application.sending.recipients import Recipients
from pillarbox.domain.accounts.key import RECEIVED_READ
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.errors import FieldError, ValidationFailed, cut
from pillarbox.domain.messages.header_text import MAX_SUBJECT
from pillarbox.domain.messages.mail import Answer, HtmlBody, Mail, TextBody
from pillarbox.domain.messages.message import Labels, MessageOrigin, SendRoute
from pillarbox.domain.replies import MESSAGE_ID, ReceivedMail

if TYPE_CHECKING:
    from pillarbox.domain.sign_in.session import MemberPrincipal

_RE: Final = "Re: "

type _Sender = "Principal | MemberPrincipal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """Answers received mail, once for each Idempotency-Key."""

    ports: SendingPorts
    records: ReceivedMails

    def submit(
        self,
        principal: _Sender,
        received_id: UUID,
        answer: Answer,
        *,
        request_id: str | None,
        write_response: Callable[[AcceptedMessage], str],
    ) -> StoredResponse:
        """Accept an email to the writer of a received mail; an error leaves nothing behind.

        Raises:
            ServiceError: `scope_required`, `received_not_found`, and those of a send.
            ValidationFailed: on `receivedId`, if a program wrote the mail: two programs would
                answer each other forever.
        """
        principal.require(RECEIVED_READ)
        if isinstance(principal, Principal):
            principal.check_unconfirmed()
        written = json.dumps([str(received_id), answer.text, answer.html, answer.sender])
        body_hash = hashlib.sha256(written.encode()).hexdigest()
        acceptance = Acceptance(self.ports, principal)
        claim = acceptance.claim(answer.idempotency_digest, body_hash, write_response)
        if isinstance(claim, StoredResponse):
            return claim
        with acceptance.released_on_error(claim):
            prepared = self._prepare(principal, received_id, answer, body_hash, request_id)
            prepared = acceptance.reserve(prepared, claim)
        return acceptance.commit(prepared, claim, write_response(prepared.accepted))

    def _prepare(
        self,
        principal: _Sender,
        received_id: UUID,
        answer: Answer,
        body_hash: str,
        request_id: str | None,
    ) -> PreparedMessage:
        """Check the mail, sender, recipient, pauses, quota and DNS, as a send does."""
        account, ports = principal.account, self.ports
        received = self.records.get(account.account_id, received_id)
        now = ports.clock()
        if received is None or now >= received.kept_until:
            raise received_not_found()
        if received.automatic:
            message = "a program wrote the mail, and programs that answer each other do not end"
            raise ValidationFailed(FieldError("receivedId", message, "not_answerable"))
        sender = account.sender(answer.sender)
        recipients = Recipients.parse((received.sender,))
        origin = MessageOrigin(
            route=SendRoute.HTTP,
            key_id=principal.key.key_id if isinstance(principal, Principal) else None,
            request_id=request_id,
            labels=Labels(tags=received.answered.tags if received.answered else {}),
        )
        admit(ports, principal, recipients, origin, now)
        check_domains(ports, account.account_id, recipients)
        mail = Mail(
            sender=sender,
            from_name=account.brand.from_name,
            to=recipients.normalize((received.sender,)),
            subject=_subject(received.subject),
            body=TextBody() if answer.html is None else HtmlBody(html=answer.html),
            text=answer.text,
            headers=_thread(received),
            reply_domain=account.reply_domain,
        )
        return PreparedMessage.of(mail, account, body_hash, now, origin).keeping(account)


def _subject(subject: str) -> str:
    """Return the subject of an answer, with one Re: (RFC 5322 section 3.6.5)."""
    return cut(subject if subject.lower().startswith(_RE.lower()) else _RE + subject, MAX_SUBJECT)


def _thread(received: ReceivedMail) -> dict[str, str]:
    """Return the fields by which mail programs put an answer below what it answers."""
    found = MESSAGE_ID.fullmatch(received.message_id_header or "")
    return {"In-Reply-To": found[0], "References": found[0]} if found else {}
