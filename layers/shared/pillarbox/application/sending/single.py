"""Send one message over HTTP (contract 4.1)."""

from collections.abc import Callable
from dataclasses import dataclass

from pillarbox.application.authentication import make_principal, parse_key
from pillarbox.application.ports import AcceptedMessage, StoredResponse
from pillarbox.application.sending.acceptance import Acceptance, SendingPorts
from pillarbox.application.sending.prepare import Preparer, check_preview
from pillarbox.application.sending.recipients import Recipients
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.key import EMAILS_SEND
from pillarbox.domain.mail import MAX_RECIPIENTS, SendRequest


@dataclass(frozen=True, slots=True)
class SingleSend:
    """Check a request in the order of the contract, then accept its message."""

    ports: SendingPorts

    def submit(
        self,
        key_text: str,
        request: SendRequest | ServiceError,
        idempotency_digest: str | None,
        write_response: Callable[[AcceptedMessage], str],
    ) -> StoredResponse:
        """Accept a message; an error leaves nothing behind.

        Args:
            key_text: the API key as the caller sent it.
            request: the request, or the errors of its form. Authentication comes first.
            idempotency_digest: identifies the route and the Idempotency-Key, in hex.
            write_response: writes the response, which replays repeat byte for byte.

        Raises:
            ServiceError: any error of contract 4.1.
        """
        ports = self.ports
        key = parse_key(key_text)
        well_formed = request if isinstance(request, SendRequest) else None
        # A request with more recipients is refused below; the read stays within the limit.
        recipients = Recipients.parse(
            well_formed.recipients[:MAX_RECIPIENTS] if well_formed else ()
        )
        directory = ports.directory.look_up(
            key.account_id,
            key_digest=key.digest,
            addresses=recipients.mailboxes,
            template_ids=well_formed.template_ids if well_formed else (),
        )
        principal = make_principal(directory)
        principal.require(EMAILS_SEND)
        if isinstance(request, ServiceError):
            raise request
        request.check_mode()
        check_preview(principal, request, ports.preview)
        request.check_size()
        preparer = Preparer(ports.domains, ports.clock, ports.preview)
        return Acceptance(ports).accept_one(
            principal,
            body_hash=request.body_hash,
            idempotency_digest=idempotency_digest,
            prepare=lambda: preparer.prepare(request, directory, principal, recipients),
            write_response=write_response,
        )
