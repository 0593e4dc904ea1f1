"""Send up to 100 messages in one request (contract 4.2), each accepted or refused separately."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pillarbox.application.authentication import make_principal, parse_key
from pillarbox.application.ports import DirectoryResult, DomainVerdict, StoredResponse
from pillarbox.application.sending.acceptance import (
    Acceptance,
    Outcome,
    Preparation,
    SendingPorts,
)
from pillarbox.application.sending.prepare import PreparedMessage, Preparer
from pillarbox.application.sending.recipients import Recipients
from pillarbox.domain.address import domain_of
from pillarbox.domain.batch import MAX_MESSAGES, BatchRequest
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.key import EMAILS_SEND, Principal


@dataclass(frozen=True, slots=True)
class BatchSend:
    """Check a batch and each of its messages, then accept those that pass."""

    ports: SendingPorts

    def submit(
        self,
        key_text: str,
        batch: BatchRequest | ServiceError,
        idempotency_digest: str | None,
        write_response: Callable[[Sequence[Outcome]], str],
    ) -> StoredResponse:
        """Accept the messages that can be accepted.

        Args:
            key_text: the API key as the caller sent it.
            batch: the batch, or the errors of its form.
            idempotency_digest: identifies the route and the Idempotency-Key, in hex.
            write_response: writes the response from the outcome of each message.

        Raises:
            ServiceError: a request-level error of contract 4.2; a quota error, if not
                one message fits.
        """
        key = parse_key(key_text)
        requests = (
            {} if isinstance(batch, ServiceError) or batch.count > MAX_MESSAGES else batch.requests
        )
        recipients = {
            position: Recipients.parse(request.recipients) for position, request in requests.items()
        }
        directory = self.ports.directory.look_up(
            key.account_id,
            key_digest=key.digest,
            addresses={mailbox for parsed in recipients.values() for mailbox in parsed.mailboxes},
            template_ids=[
                template_id for request in requests.values() for template_id in request.template_ids
            ],
        )
        principal = make_principal(directory)
        principal.require(EMAILS_SEND)
        if isinstance(batch, ServiceError):
            raise batch
        if principal.preview:
            raise ServiceError(
                "upgrade_required",
                "Preview keys send one email at a time.",
                upgrade_url=self.ports.preview.upgrade_url,
            )
        batch.check_size()
        return Acceptance(self.ports).accept_many(
            principal,
            batch.count,
            body_hash=batch.body_hash,
            idempotency_digest=idempotency_digest,
            prepare=lambda skip: self._prepare(batch, skip, directory, principal, recipients),
            write_response=write_response,
        )

    def _prepare(
        self,
        batch: BatchRequest,
        skip: Collection[int],
        directory: DirectoryResult,
        principal: Principal,
        recipients: Mapping[int, Recipients],
    ) -> Preparation:
        domains = {
            domain_of(address)
            for parsed in recipients.values()
            for address in parsed.normalized.values()
        }
        verdicts = _KnownDomains(self.ports.domains.look_up(domains))
        preparer = Preparer(verdicts, self.ports.clock, self.ports.preview)
        prepared: dict[int, PreparedMessage] = {}
        errors: dict[int, ServiceError] = {}
        for position, item in enumerate(batch.items):
            if position in skip:
                continue
            try:
                if isinstance(item, ServiceError):
                    raise item
                item.check_mode()
                item.check_size()
                prepared[position] = preparer.prepare(
                    item, directory, principal, recipients[position]
                )
            except ServiceError as error:
                errors[position] = error
        return prepared, errors


@dataclass(frozen=True, slots=True)
class _KnownDomains:
    """The verdicts on a batch's domains, looked up once (`ports.MailDomains`)."""

    verdicts: Mapping[str, DomainVerdict]

    def look_up(self, domains: Iterable[str]) -> Mapping[str, DomainVerdict]:
        return {domain: self.verdicts[domain] for domain in domains}
