"""Send one message over HTTP (contract 4.1)."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pillarbox.application.authentication import SeenKeys
from pillarbox.application.ports import AcceptedMessage, DirectoryResult, StoredResponse
from pillarbox.application.sender_quota import quota_state
from pillarbox.application.sending.acceptance import Acceptance
from pillarbox.application.sending.admission import (
    RequestCost,
    check_paused,
    check_quota,
    count_refusals,
    count_rehearsal,
    http_senders,
)
from pillarbox.application.sending.ports import SendingPorts
from pillarbox.application.sending.prepare import Caller, Draft, PreparedMessage
from pillarbox.application.sending.recipients import Recipients
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.client_origin import ClientOrigin
from pillarbox.domain.errors import ServiceError, error_of
from pillarbox.domain.messages.mail import SendRequest
from pillarbox.domain.messages.message import SendRoute
from pillarbox.rendering.saved import RequestFuel


@dataclass(frozen=True, slots=True)
class SingleSend:
    """Check a request in the order of the contract, then accept its message."""

    ports: SendingPorts
    seen: SeenKeys = field(default_factory=SeenKeys)

    def authenticate(self, key_text: str, *, origin: ClientOrigin | None = None) -> None:
        """Refuse a wrong key, or one with too many refusals, before its request is parsed."""
        http_senders(self.ports, self.seen).authenticate(key_text, origin=origin)

    def submit(  # noqa: PLR0913  what routes have in common, and what only some have
        self,
        key_text: str,
        request: SendRequest | ServiceError,
        idempotency_digest: str | None,
        write_response: Callable[[AcceptedMessage], str],
        *,
        origin: ClientOrigin | None = None,
        request_id: str | None = None,
        route: SendRoute = SendRoute.HTTP,
        confirmed: bool = False,
    ) -> StoredResponse:
        """Accept a message (contract 4.1); an error leaves nothing behind.

        Args:
            request: the request, or the errors of its form. Authentication comes first.
        """
        ports, admitted = self.ports, self._admit(key_text, origin, request)
        principal, directory = admitted.principal, admitted.directory
        with RequestCost(ports, self.seen, principal, admitted.records) as cost:
            principal.check_confirmed(over_mcp=route is SendRoute.MCP, confirmed=confirmed)
            principal.check_request(admitted.request, ports.preview)
            acceptance = Acceptance(ports, principal)
            body_hash = admitted.request.body_hash
            claim = acceptance.claim(idempotency_digest, body_hash, write_response)
            if isinstance(claim, StoredResponse):
                response = claim
            else:
                with acceptance.released_on_error(claim):
                    prepared = self._prepare(admitted, Caller(principal, route, request_id))
                    prepared = acceptance.reserve(prepared, claim)
                text = write_response(prepared.accepted)
                response = acceptance.commit(prepared, claim, text)
                cost.accepted = True
            quota = quota_state(principal, directory, ports.clock(), response.amount)
            return replace(response, quota=quota)

    def rehearse(
        self,
        key_text: str,
        request: SendRequest | ServiceError,
        *,
        origin: ClientOrigin | None = None,
    ) -> PreparedMessage:
        """Check a request as `submit` does, and return the message that it would send."""
        admitted = self._admit(key_text, origin, request)
        principal = admitted.principal
        principal.check_request(admitted.request, self.ports.preview)
        prepared = self._prepare(admitted, Caller(principal, SendRoute.MCP))
        count_rehearsal(self.ports, principal, 1, admitted.records)
        return prepared

    def _admit(
        self,
        key_text: str,
        origin: ClientOrigin | None,
        request: SendRequest | ServiceError,
    ) -> "_AdmittedRequest":
        """Read a caller, and what its request needs."""
        senders = http_senders(self.ports, self.seen)
        # For a request that is refused in any case, only the key and its account are read.
        if isinstance(request, ServiceError):
            senders.read(key_text, origin=origin)
            raise request
        if refusal := error_of(request.check_mode):
            senders.read(key_text, origin=origin)
            raise refusal
        if refusal := error_of(request.check_size):
            senders.read(key_text, origin=origin).check_request(request, self.ports.preview)
            raise refusal
        recipients = Recipients.parse(request.recipients)
        principal, directory = senders.look_up(
            key_text,
            origin=origin,
            addresses=recipients.mailboxes,
            template_ids=request.template_ids,
        )
        return _AdmittedRequest(request, recipients, principal, directory)

    def _prepare(self, admitted: "_AdmittedRequest", caller: Caller) -> PreparedMessage:
        """Check template, sender, recipients and quota; then ask the DNS, and compose the mail."""
        ports, principal, directory = self.ports, caller.principal, admitted.directory
        draft = Draft.of(admitted.request, admitted.recipients, caller, directory, ports.preview)
        check_paused(ports.quotas, principal, draft.origin, ports.clock())
        check_quota(ports, self.seen, principal, directory)
        verdicts = ports.domains.look_up(draft.recipients.domains)
        files = ports.find_files(principal.account.account_id, [draft.request])
        try:
            return draft.prepare(verdicts, files, ports.clock(), RequestFuel())
        except ServiceError:
            count_refusals(ports, principal.account.account_id, 1)
            raise


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
