"""Accept messages over SMTP (contract 4.12): the same rules and the same promise as over HTTP."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from pillarbox.application.authentication import ParsedKey, SeenKeys, SenderLookup, parse_key
from pillarbox.application.ports import AcceptedMessage, DirectoryResult, StoredResponse
from pillarbox.application.sending.acceptance import Acceptance, MessageGroup
from pillarbox.application.sending.costly_requests import check_domains
from pillarbox.application.sending.paused import check_paused, find_paused
from pillarbox.application.sending.ports import SendingPorts
from pillarbox.application.sending.prepare import PreparedMessage
from pillarbox.application.sending.recipients import Recipients
from pillarbox.application.sending.smtp_message import SmtpMessage, read_message
from pillarbox.domain.accounts.key import EMAILS_SEND, ApiKey
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.accounts.quota import QuotaExceeded
from pillarbox.domain.client_origin import ClientOrigin
from pillarbox.domain.errors import ServiceError


@dataclass(frozen=True, slots=True)
class SmtpSubmission:
    """Authenticate SMTP clients and accept their messages (RFC 5322)."""

    ports: SendingPorts
    seen: SeenKeys = field(default_factory=SeenKeys)
    paid_plans_only: bool = False

    def authenticate(self, key_text: str, *, origin: ClientOrigin | None = None) -> Principal:
        """Return the principal of an API key.

        Raises:
            ServiceError: `invalid_api_key`, `account_suspended`, `scope_required`,
                `upgrade_required` or `confirmation_required`.
        """
        return self._senders.read(key_text, origin=origin)

    def check_recipient(
        self, key_text: str, address: str, *, origin: ClientOrigin | None = None
    ) -> None:
        """Check one recipient before its message is there, as `submit` will.

        Raises:
            ServiceError: as `authenticate`; `invalid_recipient`, `recipient_not_allowed` or
                `recipient_suppressed`.
        """
        recipients = Recipients.parse((address,))
        recipients.check_syntax()
        principal, directory = self._senders.look_up(
            key_text, origin=origin, addresses=recipients.mailboxes
        )
        principal.check_recipients(recipients.normalized.values(), self.ports.preview)
        recipients.check_suppressed(directory.suppressed)
        with self._remembering(principal.key.digest, ServiceError):
            check_domains(self.ports, principal.account.account_id, recipients)

    def prepare(self, key_text: str, recipients: tuple[str, ...], octets: bytearray) -> SmtpMessage:
        """Read a message, and check what can be checked without its account.

        Args:
            key_text: the API key of the session.
            recipients: the envelope recipients.
            octets: the message; it is emptied (see `read_message`).

        Raises:
            ServiceError: as `read_message`; `invalid_recipient`.
        """
        key = parse_key(key_text)
        message = read_message(recipients, octets)
        message.recipients.check_syntax()
        if key.digest in self.seen.refused:
            return replace(message, groupable=False)
        if message.groupable:
            # The others of its group must not wait for the DNS. A message that is accepted by
            # itself is checked later, so that one with an Idempotency-Key has its claim by then.
            self._check_domains(key, message)
        return message

    def submit(
        self, key_text: str, message: SmtpMessage, *, origin: ClientOrigin | None = None
    ) -> str:
        """Accept a message of a key, which is read again; an error leaves nothing behind.

        Returns:
            The message's id.

        Raises:
            ServiceError: as over HTTP.
        """
        principal, directory = self._look_up(key_text, origin, [message])
        digest = principal.key.digest
        with self._remembering(digest, QuotaExceeded):
            acceptance = Acceptance(self.ports, principal)
            claim = acceptance.claim(message.idempotency_digest, message.body_hash, _id_of)
            if isinstance(claim, StoredResponse):
                response = claim
            else:
                with acceptance.released_on_error(claim):
                    prepared = self._prepare(principal, directory, message)
                    prepared = acceptance.reserve(prepared, claim)
                response = acceptance.commit(prepared, claim, _id_of(prepared.accepted))
        self.seen.refused.discard(digest)
        return response.body

    def submit_all(
        self,
        key_text: str,
        messages: Sequence[SmtpMessage],
        *,
        origin: ClientOrigin | None = None,
    ) -> Sequence[str | ServiceError]:
        """Accept groupable messages of one key in few calls, each separately.

        Their clients may differ. Each had its own origin checked when it logged in, so `origin` is
        that of any of them.

        Returns:
            For each message its id or its error.

        Raises:
            ServiceError: the error of all, such as a revoked key.
        """
        principal, directory = self._look_up(key_text, origin, messages)
        now, preview = self.ports.clock(), self.ports.preview
        group = MessageGroup({}, {})
        for position, message in enumerate(messages):
            try:
                group.prepared[position] = message.prepare(
                    principal, directory.suppressed, preview, now
                )
            except ServiceError as error:
                group.outcomes[position] = error
        acceptance = Acceptance(self.ports, principal)
        origins = {at: prepared.message.origin for at, prepared in group.prepared.items()}
        group.refuse(find_paused(self.ports.quotas, principal, origins, now))
        try:
            acceptance.reserve_all(group, may_refuse_all=True)
            acceptance.queue_all(group)
            acceptance.commit_all(group)
        except ServiceError as error:  # that of each message which it stops
            group.outcomes.update(dict.fromkeys(group.prepared, error))
        if any(isinstance(outcome, QuotaExceeded) for outcome in group.in_order):
            self.seen.refused.add(principal.key.digest)
        return [
            outcome if isinstance(outcome, ServiceError) else str(outcome.message_id)
            for outcome in group.in_order
        ]

    def _look_up(
        self, key_text: str, origin: ClientOrigin | None, messages: Sequence[SmtpMessage]
    ) -> tuple[Principal, DirectoryResult]:
        addresses = {mailbox for message in messages for mailbox in message.recipients.mailboxes}
        return self._senders.look_up(key_text, origin=origin, addresses=addresses)

    def _prepare(
        self, principal: Principal, directory: DirectoryResult, message: SmtpMessage
    ) -> PreparedMessage:
        """Check a message against its account, and what `prepare` has left."""
        now = self.ports.clock()
        prepared = message.prepare(principal, directory.suppressed, self.ports.preview, now)
        check_paused(self.ports.quotas, principal, prepared.message.origin, now)
        if not message.groupable:
            directory.quota.check(principal.limits, now)
            self._check_domains(principal.key, message)
        return prepared

    def _check_domains(self, key: ParsedKey | ApiKey, message: SmtpMessage) -> None:
        with self._remembering(key.digest, ServiceError):
            check_domains(self.ports, key.account_id, message.recipients)

    @contextmanager
    def _remembering(self, digest: str, refusal: type[ServiceError]) -> Iterator[None]:
        """Remember a key whose message is refused."""
        try:
            yield
        except refusal:
            self.seen.refused.add(digest)
            raise

    @property
    def _senders(self) -> SenderLookup:
        return SenderLookup(self.ports.directory, self.seen, self._authorize, self.ports.key_check)

    def _authorize(self, principal: Principal) -> None:
        principal.require(EMAILS_SEND)
        principal.check_smtp()
        plan = principal.account.plan
        if principal.policy.starters_only or (self.paid_plans_only and not plan.paid):
            raise self.ports.preview.upgrade_required("The SMTP relay is not open to this key.")


def _id_of(accepted: AcceptedMessage) -> str:
    """Write the response to a message: its id."""
    return str(accepted.message_id)
