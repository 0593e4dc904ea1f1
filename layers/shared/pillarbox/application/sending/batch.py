"""Send up to 100 messages in one request (contract 4.2), each accepted or refused separately."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pillarbox.application.authentication import SeenKeys, parse_key
from pillarbox.application.ports import DirectoryResult, StoredResponse
from pillarbox.application.sender_quota import quota_state
from pillarbox.application.sending.acceptance import (
    Acceptance,
    MessageGroup,
    Outcome,
)
from pillarbox.application.sending.admission import (
    RequestCost,
    check_quota,
    count_refusals,
    count_rehearsal,
    find_paused,
    http_senders,
)
from pillarbox.application.sending.ports import SendingPorts
from pillarbox.application.sending.prepare import Caller, Draft, PreparedMessage
from pillarbox.application.sending.recipients import Recipients
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.client_origin import ClientOrigin
from pillarbox.domain.errors import ServiceError, error_of
from pillarbox.domain.messages.batch import BatchRequest, check_domains, refusal_of_all
from pillarbox.domain.messages.mail import SendRequest
from pillarbox.domain.messages.message import SendRoute
from pillarbox.rendering.saved import RequestFuel


@dataclass(frozen=True, slots=True)
class BatchSend:
    """Check a batch and each of its messages, then accept those that pass."""

    ports: SendingPorts
    seen: SeenKeys = field(default_factory=SeenKeys)

    def authenticate(self, key_text: str, *, origin: ClientOrigin | None = None) -> None:
        """Refuse a wrong key, or one with too many refusals, before its request is parsed."""
        http_senders(self.ports, self.seen).authenticate(key_text, origin=origin)

    def submit(  # noqa: PLR0913  what routes have in common, and what only some have
        self,
        key_text: str,
        batch: BatchRequest | ServiceError,
        idempotency_digest: str | None,
        write_response: Callable[[Sequence[Outcome]], str],
        *,
        origin: ClientOrigin | None = None,
        request_id: str | None = None,
        route: SendRoute = SendRoute.BATCH,
        confirmed: bool = False,
    ) -> StoredResponse:
        """Accept the messages of a batch that can be accepted (contract 4.2).

        The arguments are those of `SingleSend.submit`, for a batch. `write_response` writes the
        response from the outcome of each message.
        """
        ports, admitted = self.ports, self._admit(key_text, origin, batch)
        principal, directory = admitted.principal, admitted.directory
        with RequestCost(ports, self.seen, principal, admitted.records) as cost:
            principal.check_confirmed(over_mcp=route is SendRoute.MCP, confirmed=confirmed)
            acceptance = Acceptance(ports, principal)
            count, body_hash = admitted.batch.count, admitted.batch.body_hash
            claim = acceptance.claim(idempotency_digest, body_hash, count=count)
            if isinstance(claim, StoredResponse):
                response = claim
            else:
                # Only the claim says under which ids dead owners accepted a part.
                is_new = claim is not None and not claim.earlier
                with acceptance.released_on_error(claim if is_new else None):
                    before = acceptance.accepted_before(claim)
                    group = self._prepare(admitted, before, Caller(principal, route, request_id))
                    group.outcomes.update(before)
                    whole = admitted.batch.whole and not before
                    if whole:
                        _require_all(group)
                    acceptance.reserve_all(
                        group, claim, may_refuse_all=bool(before), all_or_none=whole
                    )
                    acceptance.queue_all(group, all_or_none=whole)
                # An error from here on leaves the claim pending: the next owner finds the records.
                acceptance.commit_all(group, claim)
                text = write_response(group.in_order)
                response = acceptance.finish(group, claim, text)
                cost.accepted = any(response.message_ids)
            quota = quota_state(principal, directory, ports.clock(), response.amount)
            return replace(response, quota=quota)

    def rehearse(
        self,
        key_text: str,
        batch: BatchRequest | ServiceError,
        *,
        origin: ClientOrigin | None = None,
    ) -> Mapping[int, PreparedMessage | ServiceError]:
        """Check a batch as `submit` does; return each message that it would send, or its error."""
        admitted = self._admit(key_text, origin, batch)
        group = self._prepare(admitted, (), Caller(admitted.principal, SendRoute.MCP))
        count_rehearsal(self.ports, admitted.principal, len(group.prepared), admitted.records)
        errors = {
            at: error for at, error in group.outcomes.items() if isinstance(error, ServiceError)
        }
        return group.prepared | errors

    def _admit(
        self, key_text: str, origin: ClientOrigin | None, batch: BatchRequest | ServiceError
    ) -> "_AdmittedBatch":
        """Read a caller, and what its batch needs."""
        senders, preview = http_senders(self.ports, self.seen), self.ports.preview
        if isinstance(batch, ServiceError):
            senders.read(key_text, origin=origin)
            raise batch
        # For a batch that is refused in any case, only the key and its account are read.
        refusal = error_of(batch.check_size)
        messages = _Messages({}, {}) if refusal else _Messages.of(batch)
        refusal = refusal or error_of(lambda: check_domains(messages.domains))
        if refusal or parse_key(key_text).policy.starters_only:
            senders.read(key_text, origin=origin).check_batch(preview)
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
        principal, directory = senders.look_up(
            key_text, origin=origin, addresses=mailboxes, template_ids=template_ids
        )
        principal.check_batch(preview)
        return _AdmittedBatch(
            batch, messages, principal, directory, len(mailboxes) + len(template_ids)
        )

    def _prepare(
        self, admitted: "_AdmittedBatch", skip: Collection[int], caller: Caller
    ) -> MessageGroup:
        """Check each message, except those at positions to skip, as `SingleSend` does."""
        ports, principal, directory = self.ports, caller.principal, admitted.directory
        messages, drafts = admitted.messages, dict[int, Draft]()
        group = MessageGroup(
            {}, {at: error for at, error in messages.errors.items() if at not in skip}
        )
        for position, (request, recipients) in messages.passed.items():
            if position in skip:
                continue
            try:
                drafts[position] = Draft.of(request, recipients, caller, directory, ports.preview)
            except ServiceError as error:
                group.outcomes[position] = error
        origins = {position: draft.origin for position, draft in drafts.items()}
        paused = find_paused(ports.quotas, principal, origins, ports.clock())
        if paused and len(paused) == len(drafts) and not skip:
            raise next(iter(paused.values()))
        group.outcomes.update(paused)
        drafts = {at: draft for at, draft in drafts.items() if at not in paused}
        if not drafts:
            return group
        try:
            check_quota(ports, self.seen, principal, directory)
        except ServiceError as refusal:
            if not skip:
                raise
            group.outcomes.update(dict.fromkeys(drafts, refusal))
            return group
        domains = frozenset().union(*(draft.recipients.domains for draft in drafts.values()))
        verdicts = ports.domains.look_up(domains)
        requests = [draft.request for draft in drafts.values()]
        files = ports.find_files(principal.account.account_id, requests)
        now, fuel, refused = ports.clock(), RequestFuel(), 0
        for position, draft in drafts.items():
            try:
                group.prepared[position] = draft.prepare(verdicts, files, now, fuel)
            except ServiceError as error:
                group.outcomes[position] = error
                refused += 1
        count_refusals(ports, principal.account.account_id, refused)
        return group


def _require_all(group: MessageGroup) -> None:
    for position, outcome in sorted(group.outcomes.items()):
        if isinstance(outcome, ServiceError):
            raise refusal_of_all(position, outcome)


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
