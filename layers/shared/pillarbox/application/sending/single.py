"""Send one message over HTTP (contract 4.1)."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from pillarbox.application.ports import AcceptedMessage, DirectoryResult, StoredResponse
from pillarbox.application.sending.acceptance import Acceptance, SendingPorts
from pillarbox.application.sending.costly_requests import authenticate_early, count_if_costly
from pillarbox.application.sending.late_checks import prepare_all
from pillarbox.application.sending.prepare import Caller, Draft, PreparedMessage, check_preview
from pillarbox.application.sending.recipients import Recipients
from pillarbox.domain.errors import ServiceError, error_of
from pillarbox.domain.mail import SendRequest
from pillarbox.domain.message import SendRoute


@dataclass(frozen=True, slots=True)
class SingleSend:
    """Check a request in the order of the contract, then accept its message."""

    ports: SendingPorts

    def authenticate_early(self, key_text: str) -> None:
        """Refuse a wrong key, or one with too many refusals, before its request is parsed.

        Raises:
            ServiceError: as `authenticate_early`.
        """
        authenticate_early(self.ports, key_text)

    def submit(
        self,
        key_text: str,
        request: SendRequest | ServiceError,
        idempotency_digest: str | None,
        write_response: Callable[[AcceptedMessage], str],
        *,
        request_id: str | None = None,
    ) -> StoredResponse:
        """Accept a message; an error leaves nothing behind.

        Args:
            key_text: the API key as the caller sent it.
            request: the request, or the errors of its form. Authentication comes first.
            idempotency_digest: identifies the route and the Idempotency-Key, in hex.
            write_response: writes the response, which replays repeat byte for byte.
            request_id: the id of the HTTP request, for the message's record.

        Raises:
            ServiceError: any error of contract 4.1.
        """
        ports, authentication = self.ports, self.ports.authentication
        if isinstance(request, ServiceError):
            authentication.authenticate(key_text)
            raise request
        # For a request that is refused in any case, only the key and its account are read.
        if refusal := error_of(request.check_mode):
            authentication.authenticate(key_text)
            raise refusal
        if refusal := error_of(request.check_size):
            check_preview(authentication.authenticate(key_text), request, ports.preview)
            raise refusal
        recipients = Recipients.parse(request.recipients)
        principal, directory = authentication.look_up(
            key_text, addresses=recipients.mailboxes, template_ids=request.template_ids
        )

        def accept() -> StoredResponse:
            check_preview(principal, request, ports.preview)
            response = Acceptance(ports).accept_one(
                principal,
                body_hash=request.body_hash,
                idempotency_digest=idempotency_digest,
                prepare=lambda: self._prepare(
                    request, recipients, Caller(principal, SendRoute.HTTP, request_id), directory
                ),
                write_response=write_response,
            )
            quota = directory.quota.state(principal.limits, ports.clock(), response.amount)
            return replace(response, quota=quota)

        return count_if_costly(
            ports, principal, len(recipients.mailboxes) + len(request.template_ids), accept
        )

    def _prepare(
        self,
        request: SendRequest,
        recipients: Recipients,
        caller: Caller,
        directory: DirectoryResult,
    ) -> PreparedMessage:
        draft = Draft.of(request, recipients, caller, directory, self.ports.preview)
        prepared, errors = prepare_all(self.ports, {0: draft}, caller.principal, directory)
        if errors:
            raise errors[0]
        return prepared[0]
