"""Send up to 100 messages in one request (contract 4.2), each accepted or refused separately."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from pillarbox.application.authentication import parse_key
from pillarbox.application.ports import DirectoryResult, StoredResponse
from pillarbox.application.sender_quota import with_quota
from pillarbox.application.sending.acceptance import (
    Acceptance,
    Outcome,
    Preparation,
    SendingPorts,
)
from pillarbox.application.sending.costly_requests import (
    authenticate_early,
    count_if_costly,
    count_rehearsal,
)
from pillarbox.application.sending.late_checks import prepare_all
from pillarbox.application.sending.prepare import Caller, Draft, PreparedMessage
from pillarbox.application.sending.recipients import Recipients
from pillarbox.domain.accounts.key import Principal
from pillarbox.domain.errors import ServiceError, error_of
from pillarbox.domain.messages.batch import BatchRequest, check_domains
from pillarbox.domain.messages.mail import SendRequest
from pillarbox.domain.messages.message import SendRoute


@dataclass(frozen=True, slots=True)
class BatchSend:
    """Check a batch and each of its messages, then accept those that pass."""

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
        batch: BatchRequest | ServiceError,
        idempotency_digest: str | None,
        write_response: Callable[[Sequence[Outcome]], str],
        *,
        request_id: str | None = None,
        route: SendRoute = SendRoute.BATCH,
        confirmed: bool = False,
    ) -> StoredResponse:
        """Accept the messages that can be accepted.

        Args:
            key_text: the API key as the caller sent it.
            batch: the batch, or the errors of its form.
            idempotency_digest: identifies the route and the Idempotency-Key, in hex.
            write_response: writes the response from the outcome of each message.
            request_id: the id of the HTTP request, for the messages' records.
            route: how the request came in.
            confirmed: whether somebody confirmed this request.

        Raises:
            ServiceError: a request-level error of contract 4.2; a quota error, if not
                one message fits; `confirmation_required`.
        """
        admitted = self._admit(key_text, batch)
        principal = admitted.principal

        def accept() -> StoredResponse:
            principal.check_confirmed(by_agent=route is SendRoute.MCP, confirmed=confirmed)
            response = Acceptance(self.ports).accept_many(
                principal,
                admitted.batch.count,
                body_hash=admitted.batch.body_hash,
                idempotency_digest=idempotency_digest,
                prepare=lambda skip: self._prepare(
                    admitted, skip, Caller(principal, route, request_id)
                ),
                write_response=write_response,
            )
            return with_quota(
                response, self.ports.directory, principal, admitted.directory, self.ports.clock()
            )

        return count_if_costly(self.ports, principal, admitted.records, accept)

    def rehearse(
        self, key_text: str, batch: BatchRequest | ServiceError
    ) -> Mapping[int, PreparedMessage | ServiceError]:
        """Check a batch as `submit` does; return each message that it would send, or its error.

        Raises:
            ServiceError: a request-level error of contract 4.2; a quota error.
        """
        admitted = self._admit(key_text, batch)
        prepared, errors = self._prepare(admitted, (), Caller(admitted.principal, SendRoute.MCP))
        count_rehearsal(self.ports, admitted.principal, len(prepared), admitted.records)
        return prepared | errors

    def _admit(self, key_text: str, batch: BatchRequest | ServiceError) -> "_AdmittedBatch":
        """Authenticate a caller, and read what its batch needs."""
        authentication = self.ports.authentication
        if isinstance(batch, ServiceError):
            authentication.authenticate(key_text)
            raise batch
        # For a batch that is refused in any case, only the key and its account are read.
        refusal = error_of(batch.check_size)
        messages = _Messages({}, {}) if refusal else _Messages.of(batch)
        refusal = refusal or error_of(lambda: check_domains(messages.domains))
        if refusal or parse_key(key_text).preview:
            self._check_preview(authentication.authenticate(key_text))
        if refusal:
            raise refusal
        mailboxes = {
            mailbox
            for _, recipients in messages.passed.values()
            for mailbox in recipients.mailboxes
        }
        template_ids = {
            template_id
            for request, _ in messages.passed.values()
            for template_id in request.template_ids
        }
        principal, directory = authentication.look_up(
            key_text,
            addresses=mailboxes,
            template_ids=template_ids,
        )
        self._check_preview(principal)
        return _AdmittedBatch(
            batch, messages, principal, directory, len(mailboxes) + len(template_ids)
        )

    def _check_preview(self, principal: Principal) -> None:
        if principal.preview:
            raise ServiceError(
                "upgrade_required",
                "Preview keys send one email at a time.",
                upgrade_url=self.ports.preview.upgrade_url,
            )

    def _prepare(
        self, admitted: "_AdmittedBatch", skip: Collection[int], caller: Caller
    ) -> Preparation:
        messages, directory = admitted.messages, admitted.directory
        errors = {at: error for at, error in messages.errors.items() if at not in skip}
        drafts: dict[int, Draft] = {}
        for position, (request, recipients) in messages.passed.items():
            if position in skip:
                continue
            try:
                drafts[position] = Draft.of(
                    request, recipients, caller, directory, self.ports.preview
                )
            except ServiceError as error:
                errors[position] = error
        prepared, late_errors = prepare_all(
            self.ports, drafts, caller.principal, directory, may_refuse_all=bool(skip)
        )
        return prepared, errors | late_errors


@dataclass(frozen=True, slots=True)
class _Messages:
    """The messages of a batch by position: those with a correct form and size, and the errors."""

    passed: Mapping[int, tuple[SendRequest, Recipients]]
    errors: Mapping[int, ServiceError]

    @classmethod
    def of(cls, batch: BatchRequest) -> "_Messages":
        passed: dict[int, tuple[SendRequest, Recipients]] = {}
        errors: dict[int, ServiceError] = {}
        for position, item in enumerate(batch.items):
            if isinstance(item, ServiceError):
                errors[position] = item
            elif error := error_of(item.check_mode) or error_of(item.check_size):
                errors[position] = error
            else:
                passed[position] = (item, Recipients.parse(item.recipients))
        return cls(passed, errors)

    @property
    def domains(self) -> frozenset[str]:
        """Return the domains that the DNS would be asked for."""
        return frozenset().union(
            *(
                recipients.domains
                for _, recipients in self.passed.values()
                if not recipients.syntax_errors
            )
        )


@dataclass(frozen=True, slots=True)
class _AdmittedBatch:
    """A batch of a caller that may send it, with what was read for it.

    `records` is how many suppressions and templates were looked up.
    """

    batch: BatchRequest
    messages: _Messages
    principal: Principal
    directory: DirectoryResult
    records: int
