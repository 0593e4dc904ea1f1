"""Send one message over HTTP (contract 4.1)."""

from collections.abc import Callable
from dataclasses import dataclass

from pillarbox.application.ports import AcceptedMessage, DirectoryResult, StoredResponse
from pillarbox.application.sender_quota import with_quota
from pillarbox.application.sending.acceptance import Acceptance, SendingPorts
from pillarbox.application.sending.costly_requests import (
    authenticate_early,
    count_if_costly,
    count_rehearsal,
)
from pillarbox.application.sending.late_checks import prepare_all
from pillarbox.application.sending.prepare import Caller, Draft, PreparedMessage, check_preview
from pillarbox.application.sending.recipients import Recipients
from pillarbox.domain.accounts.key import Principal
from pillarbox.domain.errors import ServiceError, error_of
from pillarbox.domain.messages.mail import SendRequest
from pillarbox.domain.messages.message import SendRoute


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

    def submit(  # noqa: PLR0913  what routes have in common, and what only some have
        self,
        key_text: str,
        request: SendRequest | ServiceError,
        idempotency_digest: str | None,
        write_response: Callable[[AcceptedMessage], str],
        *,
        request_id: str | None = None,
        route: SendRoute = SendRoute.HTTP,
        confirmed: bool = False,
    ) -> StoredResponse:
        """Accept a message; an error leaves nothing behind.

        Args:
            key_text: the API key as the caller sent it.
            request: the request, or the errors of its form. Authentication comes first.
            idempotency_digest: identifies the route and the Idempotency-Key, in hex.
            write_response: writes the response, which replays repeat byte for byte.
            request_id: the id of the HTTP request, for the message's record.
            route: how the request came in.
            confirmed: whether somebody confirmed this request.

        Raises:
            ServiceError: any error of contract 4.1; `confirmation_required`.
        """
        ports, admitted = self.ports, self._admit(key_text, request)
        principal = admitted.principal

        def accept() -> StoredResponse:
            principal.check_confirmed(by_agent=route is SendRoute.MCP, confirmed=confirmed)
            check_preview(principal, admitted.request, ports.preview)
            response = Acceptance(ports).accept_one(
                principal,
                body_hash=admitted.request.body_hash,
                idempotency_digest=idempotency_digest,
                prepare=lambda: self._prepare(admitted, Caller(principal, route, request_id)),
                write_response=write_response,
            )
            return with_quota(
                response, ports.directory, principal, admitted.directory, ports.clock()
            )

        return count_if_costly(ports, principal, admitted.records, accept)

    def rehearse(self, key_text: str, request: SendRequest | ServiceError) -> PreparedMessage:
        """Check a request as `submit` does, and return the message that it would send.

        Raises:
            ServiceError: any error of contract 4.1, except those of idempotency.
        """
        admitted = self._admit(key_text, request)
        principal = admitted.principal
        check_preview(principal, admitted.request, self.ports.preview)
        prepared = self._prepare(admitted, Caller(principal, SendRoute.MCP))
        count_rehearsal(self.ports, principal, 1, admitted.records)
        return prepared

    def _admit(self, key_text: str, request: SendRequest | ServiceError) -> "_AdmittedRequest":
        """Authenticate a caller, and read what its request needs."""
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
        return _AdmittedRequest(request, recipients, principal, directory)

    def _prepare(self, admitted: "_AdmittedRequest", caller: Caller) -> PreparedMessage:
        directory = admitted.directory
        draft = Draft.of(
            admitted.request, admitted.recipients, caller, directory, self.ports.preview
        )
        prepared, errors = prepare_all(self.ports, {0: draft}, caller.principal, directory)
        if errors:
            raise errors[0]
        return prepared[0]


@dataclass(frozen=True, slots=True)
class _AdmittedRequest:
    """A request of a caller that may send, with what was read for it."""

    request: SendRequest
    recipients: Recipients
    principal: Principal
    directory: DirectoryResult

    @property
    def records(self) -> int:
        """How many suppressions and templates were looked up for it."""
        return len(self.recipients.mailboxes) + len(self.request.template_ids)
