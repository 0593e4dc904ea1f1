"""Accept messages over SMTP (contract 4.12): the same rules and the same promise as over HTTP."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from pillarbox.application.authentication import (
    ParsedKey,
    RecentKeys,
    SenderAuthentication,
    parse_key,
)
from pillarbox.application.ports import AcceptedMessage, DirectoryResult
from pillarbox.application.sending.acceptance import Acceptance, Outcome, SendingPorts
from pillarbox.application.sending.late_checks import check_domains
from pillarbox.application.sending.prepare import PreparedMessage
from pillarbox.application.sending.smtp_message import SmtpMessage, read_message
from pillarbox.domain.accounts.key import EMAILS_SEND, Principal
from pillarbox.domain.accounts.quota import QuotaExceeded
from pillarbox.domain.errors import ServiceError


@dataclass(frozen=True, slots=True)
class SmtpSubmission:
    """Authenticate SMTP clients and accept their messages (RFC 5322)."""

    ports: SendingPorts
    paid_plans_only: bool = False
    #: The keys whose last message was refused for a quota or its recipients' domains. Their next
    #: one is accepted alone, so that its quota is read before the DNS is asked.
    refused_keys: RecentKeys = field(default_factory=RecentKeys)

    def authenticate(self, key_text: str) -> Principal:
        """Return the principal of an API key.

        Raises:
            ServiceError: `invalid_api_key`, `account_suspended`, `scope_required`,
                `upgrade_required` or `confirmation_required`.
        """
        return self._authentication.authenticate(key_text)

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
        if key.digest in self.refused_keys:
            return replace(message, groupable=False)
        if message.groupable:
            # The others of its group must not wait for the DNS. A message that is accepted by
            # itself is checked later, so that one with an Idempotency-Key has its claim by then.
            self._check_domains(key, message)
        return message

    def submit(
        self,
        key_text: str,
        message: SmtpMessage,
        write_response: Callable[[AcceptedMessage], str],
    ) -> str:
        """Accept a message; an error leaves nothing behind.

        Args:
            key_text: the API key, which is read again.
            message: the message.
            write_response: writes the response, which the claim stores if there is one.

        Returns:
            The message's id.

        Raises:
            ServiceError: as over HTTP.
        """
        key = parse_key(key_text)
        principal, directory = self._look_up(key_text, [message])

        def prepare() -> PreparedMessage:
            now = self.ports.clock()
            prepared = message.prepare(principal, directory.suppressed, now)
            if not message.groupable:
                directory.quota.check(principal.limits, now)
                self._check_domains(key, message)
            return prepared

        try:
            response = Acceptance(self.ports).accept_one(
                principal,
                body_hash=message.body_hash,
                idempotency_digest=message.idempotency_digest,
                prepare=prepare,
                write_response=write_response,
            )
        except QuotaExceeded:
            self.refused_keys.add(key.digest)
            raise
        self.refused_keys.discard(key.digest)
        return str(response.message_ids[0])

    def submit_all(
        self, key_text: str, messages: Sequence[SmtpMessage]
    ) -> Sequence[str | ServiceError]:
        """Accept groupable messages of one key in few calls, each separately.

        Returns:
            For each message its id or its error.

        Raises:
            ServiceError: the error of all, such as a revoked key.
        """
        principal, directory = self._look_up(key_text, messages)
        now = self.ports.clock()
        prepared: dict[int, PreparedMessage] = {}
        outcomes: dict[int, Outcome] = {}
        for position, message in enumerate(messages):
            try:
                prepared[position] = message.prepare(principal, directory.suppressed, now)
            except ServiceError as error:
                outcomes[position] = error
        outcomes |= Acceptance(self.ports).accept_group(principal, prepared)
        if any(isinstance(outcome, QuotaExceeded) for outcome in outcomes.values()):
            self.refused_keys.add(principal.key.digest)
        in_order = [outcomes[position] for position in range(len(messages))]
        return [
            outcome if isinstance(outcome, ServiceError) else str(outcome.message_id)
            for outcome in in_order
        ]

    def _look_up(
        self, key_text: str, messages: Sequence[SmtpMessage]
    ) -> tuple[Principal, DirectoryResult]:
        addresses = {mailbox for message in messages for mailbox in message.recipients.mailboxes}
        return self._authentication.look_up(key_text, addresses=addresses)

    def _check_domains(self, key: ParsedKey, message: SmtpMessage) -> None:
        try:
            check_domains(self.ports, key.account_id, message.recipients)
        except ServiceError:
            self.refused_keys.add(key.digest)
            raise

    @property
    def _authentication(self) -> SenderAuthentication:
        return SenderAuthentication(
            self.ports.directory, self.ports.valid_keys, self._authorize, self.ports.clock
        )

    def _authorize(self, principal: Principal) -> None:
        principal.require(EMAILS_SEND)
        principal.check_confirmed(by_agent=False, confirmed=False)
        plan = principal.account.plan
        if principal.preview or (self.paid_plans_only and not plan.paid):
            raise ServiceError(
                "upgrade_required",
                "The SMTP relay is not open to this key.",
                upgrade_url=self.ports.preview.upgrade_url,
            )
