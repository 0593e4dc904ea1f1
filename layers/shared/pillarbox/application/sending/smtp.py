"""Accept messages over SMTP (contract 4.12): the same rules and the same promise as over HTTP."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pillarbox.application.authentication import make_principal, parse_key
from pillarbox.application.ports import AcceptedMessage, DirectoryResult
from pillarbox.application.sending.acceptance import Acceptance, Outcome, SendingPorts
from pillarbox.application.sending.prepare import PreparedMessage
from pillarbox.application.sending.smtp_message import SmtpMessage, read_message
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.key import EMAILS_SEND, Principal


@dataclass(frozen=True, slots=True)
class SmtpSubmission:
    """Authenticate SMTP clients and accept their messages (RFC 5322)."""

    ports: SendingPorts
    paid_plans_only: bool = False

    def authenticate(self, key_text: str) -> Principal:
        """Return the principal of an API key.

        Raises:
            ServiceError: `invalid_api_key`, `account_suspended`, `scope_required` or
                `upgrade_required`.
        """
        key = parse_key(key_text)
        return self._authorize(self.ports.directory.look_up(key.account_id, key_digest=key.digest))

    def prepare(self, recipients: tuple[str, ...], octets: bytearray) -> SmtpMessage:
        """Read a message, and check what can be checked without its account.

        Args:
            recipients: the envelope recipients.
            octets: the message; it is emptied (see `read_message`).

        Raises:
            ServiceError: as `read_message`; `invalid_recipient`.
        """
        message = read_message(recipients, octets)
        if message.groupable:
            # The others of its group must not wait for the DNS. A message that is accepted by
            # itself is checked later, so that one with an Idempotency-Key has its claim by then.
            message.recipients.check(self.ports.domains)
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
        principal, directory = self._look_up(key_text, [message])

        def prepare() -> PreparedMessage:
            if not message.groupable:
                message.recipients.check(self.ports.domains)
            return message.prepare(principal.account, directory.suppressed, self.ports.clock())

        response = Acceptance(self.ports).accept_one(
            principal,
            body_hash=message.body_hash,
            idempotency_digest=message.idempotency_digest,
            prepare=prepare,
            write_response=write_response,
        )
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
                prepared[position] = message.prepare(principal.account, directory.suppressed, now)
            except ServiceError as error:
                outcomes[position] = error
        outcomes |= Acceptance(self.ports).accept_group(principal, prepared)
        in_order = [outcomes[position] for position in range(len(messages))]
        return [
            outcome if isinstance(outcome, ServiceError) else str(outcome.message_id)
            for outcome in in_order
        ]

    def _look_up(
        self, key_text: str, messages: Sequence[SmtpMessage]
    ) -> tuple[Principal, DirectoryResult]:
        key = parse_key(key_text)
        addresses = {mailbox for message in messages for mailbox in message.recipients.mailboxes}
        directory = self.ports.directory.look_up(
            key.account_id, key_digest=key.digest, addresses=addresses
        )
        return self._authorize(directory), directory

    def _authorize(self, directory: DirectoryResult) -> Principal:
        principal = make_principal(directory)
        principal.require(EMAILS_SEND)
        plan = principal.account.plan
        if principal.preview or (self.paid_plans_only and not plan.paid):
            raise ServiceError(
                "upgrade_required",
                "The SMTP relay is not open to this key.",
                upgrade_url=self.ports.preview.upgrade_url,
            )
        return principal
