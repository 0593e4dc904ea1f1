"""Give a preview key to anybody who confirms an address, for the widget on other sites.

Each address gets the same calls and bytes until its owner brings the right code.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pillarbox.application.ports import Clock, MailDomains, StrangerMail
from pillarbox.application.sign_in.code_limits import count_code
from pillarbox.application.sign_in.mail_to_strangers import refuse_domain
from pillarbox.application.sign_in.ports import (
    CodeRequests,
    Flows,
    PreviewAccounts,
    Proofs,
    SignInCounts,
)
from pillarbox.application.stranger_pauses import paused
from pillarbox.application.validation import normalize_address
from pillarbox.domain.accounts.account import Account, Isolation, Plan, Suspension
from pillarbox.domain.accounts.key import (
    PREVIEW_SCOPES,
    ApiKey,
    KeyType,
    digest_of_key,
    ending_of_key,
    new_key_text,
)
from pillarbox.domain.accounts.key_policy import PREVIEW_SUSPENDED
from pillarbox.domain.accounts.key_terms import IssuedKey
from pillarbox.domain.address import domain_and_parents, domain_of
from pillarbox.domain.client_origin import block_of
from pillarbox.domain.errors import FieldError, ServiceError, Unavailable, ValidationFailed
from pillarbox.domain.sign_in.codes import MAX_ATTEMPTS, FlowToken, invalid_code, new_flow
from pillarbox.domain.sign_in.preview_key import (
    CODES_PER_ADDRESS,
    CODES_PER_KEY,
    KEY_NAME,
    PER_BLOCK,
    PER_DOMAIN,
    SECRET_BYTES,
    account_id_for,
    folded_digest,
    is_mailbox_provider,
    parse_report,
    preview_key_id,
    preview_keys_closed,
)
from pillarbox.domain.sign_in.session import SERVICE_ACCOUNT_ID
from pillarbox.domain.sign_in.sign_up import (
    DAY,
    PARTS,
    Challenge,
    Proof,
    check_proof,
    new_challenge,
    wrong_proof,
)
from pillarbox.domain.sign_in.strangers import Audience, Cause, network_party

#: The start of the subjects of all counts here. No other function may change these.
_COUNTS: Final = "preview#"
#: Two requests for one address take turns.
_TRIES: Final = 5
#: The keys that the widget gives in a day, in all.
_KEYS_PER_DAY: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewKeys:
    """Gives and stops preview keys."""

    is_open: bool
    accounts: PreviewAccounts
    flows: Flows
    proofs: Proofs
    counts: SignInCounts
    queue: CodeRequests
    domains: MailDomains
    strangers: StrangerMail
    is_disposable: Callable[[str], bool]
    #: None for a public suffix.
    registrable_domain: Callable[[str], str | None]
    #: The tenant of SES in which a new account begins; None for no tenant.
    tenant: Callable[[], str | None]
    clock: Clock

    def challenge(self, address: str) -> Challenge:
        """Return the work that a code for an address needs."""
        digest = folded_digest(self._accepted(address))
        return new_challenge(self.proofs.key(), digest, self.clock())

    def request_code(self, address: str, proof: Proof, client: str) -> FlowToken:
        """Begin a flow, and queue its code."""
        address, now = self._accepted(address), self.clock()
        digest = folded_digest(address)
        checked = check_proof(proof, self.proofs.key(), digest, now)
        if not self.proofs.use(checked):
            raise wrong_proof("was used before: solve a new challenge")
        count_code(self.counts, _COUNTS, digest, client, now)
        refuse_domain(self.domains.look_up([domain_of(address)])[domain_of(address)], "email")
        party = network_party(client)
        if paused(self.strangers, Cause(Audience.VISITORS, party), now):
            raise _no_more_codes()
        self._count_codes_of_day(digest, party)
        token, flow, request = new_flow(address, now, digest, party=party)
        self.flows.put(flow)
        self.queue.put(request)
        return token

    def issue(self, token: FlowToken, code: str, client: str) -> tuple[IssuedKey, str]:
        """Return a new key and the address that was confirmed. A key before it ends."""
        self._check_open()
        flow = self.flows.attempt(token, MAX_ATTEMPTS, self.clock())
        if flow is None or not flow.accepts(token, code) or not self.flows.finish(flow):
            raise invalid_code()
        self._count_key(flow.address, client)
        account_id = account_id_for(self.proofs.key(), flow.address)
        for _ in range(_TRIES):
            if issued := self._replace_key(account_id, flow.address):
                return issued, flow.address
        raise Unavailable("data store", "Other requests change this key right now. Ask again.")

    def report(self, token: str) -> None:
        """Stop unwanted mail to the address in the token of a link, and the keys of its sender.

        The sender is the service itself, which has no keys, or an account of the widget. A token
        that is wrong changes nothing, and gets the same response. This works without the widget
        too.
        """
        report = parse_report(token)
        if report is None:
            return
        if report.account_id == SERVICE_ACCOUNT_ID:
            secret: str | None = self.proofs.key().hex()
        else:
            account = self.accounts.get(report.account_id)
            secret = account.widget_secret if account else None
        if secret is None or not report.is_signed(secret):
            return
        now = self.clock()
        self.accounts.stop_mail(report.mailbox, now)
        if report.account_id != SERVICE_ACCOUNT_ID:
            suspension = Suspension(now, "a recipient reported a test mail")
            self.accounts.suspend(report.account_id, suspension)

    def _accepted(self, text: str) -> str:
        self._check_open()
        address = normalize_address(text, "address")
        if any(map(self.is_disposable, domain_and_parents(domain_of(address)))):
            message = "is of a service for disposable addresses"
            raise ValidationFailed(FieldError("email", message, "not_allowed"))
        return address

    def _check_open(self) -> None:
        if not self.is_open:
            raise preview_keys_closed()

    def _count_codes_of_day(self, digest: str, party: str) -> None:
        """Count a code that will be mailed, perhaps to somebody who has not asked for it.

        Of all codes a network takes a tenth.
        """
        most_in_all = CODES_PER_KEY * _KEYS_PER_DAY
        limits = [(f"mailbox#{digest}", CODES_PER_ADDRESS), ("codes", most_in_all)]
        if party:
            limits.insert(1, (f"codes/{party}", most_in_all // PARTS))
        for subject, most in limits:
            if not self.counts.count(f"{_COUNTS}{subject}", DAY, most, self.clock()):
                raise _no_more_codes()

    def _count_key(self, address: str, client: str) -> None:
        """Count a key for its network and its domain before it counts among all."""
        now, domain, block = self.clock(), domain_of(address), block_of(client)
        limits = [("all", _KEYS_PER_DAY)]
        if not is_mailbox_provider(domain):
            shared = self.registrable_domain(domain) or domain
            limits.insert(0, (f"domain#{shared}", PER_DOMAIN))
        if block:
            limits.insert(0, (f"keys#{block}", PER_BLOCK))
        for subject, most in limits:
            if not self.counts.count(f"{_COUNTS}{subject}", DAY, most, now):
                message = "There are no more preview keys for you today. Try again tomorrow."
                raise ServiceError("rate_limit_exceeded", message)

    def _new_account(self, account_id: str, address: str) -> Account:
        tenant = self.tenant()
        return Account(
            account_id=account_id,
            name=KEY_NAME,
            plan=Plan.FREE,
            created_at=self.clock(),
            contact=address,
            widget_secret=secrets.token_hex(SECRET_BYTES),
            isolation=Isolation.STRICT if tenant else Isolation.NONE,
            tenant=tenant,
        )

    def _replace_key(self, account_id: str, address: str) -> IssuedKey | None:
        """Store a new key in place of the one that there is; return None if that has changed."""
        now = self.clock()
        before = self.accounts.get(account_id)
        if before is not None and before.suspension is not None:
            raise ServiceError("account_suspended", PREVIEW_SUSPENDED)
        account = before or self._new_account(account_id, address)
        if account.widget_secret is None:
            raise Unavailable("data store", "This address cannot get a preview key.")
        text = new_key_text(account_id, KeyType.PREVIEW)
        key = ApiKey(
            key_id=preview_key_id(account_id),
            account_id=account_id,
            name=KEY_NAME,
            type=KeyType.PREVIEW,
            preset=None,
            scopes=PREVIEW_SCOPES,
            digest=digest_of_key(text),
            ending=ending_of_key(text),
            created_at=now,
            self_service=True,
        )
        old = self.accounts.key_digest(account_id)
        if not self.accounts.put_key(key, old, None if before else account):
            return None
        return IssuedKey(key, text)


def _no_more_codes() -> ServiceError:
    message = "There are no more codes for you today. Try again tomorrow."
    return ServiceError("rate_limit_exceeded", message)
