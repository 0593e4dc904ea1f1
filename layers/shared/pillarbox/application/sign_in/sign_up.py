"""Sign up: a user who has confirmed an address creates an account, or asks for one."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from pillarbox.application.ports import Clock
from pillarbox.application.sign_in.ports import Proofs, SignInCounts, SignUps
from pillarbox.application.validation import check_text
from pillarbox.domain.accounts.account import Account, Isolation, Plan
from pillarbox.domain.accounts.account_log import LogEntry
from pillarbox.domain.accounts.key import ACCOUNT_ID_LENGTH
from pillarbox.domain.client_origin import block_of
from pillarbox.domain.errors import ServiceError, Unavailable
from pillarbox.domain.ids import new_token
from pillarbox.domain.sign_in.session import Member, Role, SessionPrincipal, user_digest
from pillarbox.domain.sign_in.sign_up import (
    DAY,
    PER_BLOCK,
    Challenge,
    Proof,
    SignUpMode,
    SignUpPolicy,
    SignUpRequest,
    SignUpState,
    SignUpStatus,
    check_proof,
    new_challenge,
    sign_up_closed,
    wrong_proof,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignUpOffer:
    """What a user can do, with the account that was created or a challenge to solve for one."""

    status: SignUpStatus
    challenge: Challenge | None = None
    account: Account | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignUp:
    """Creates the accounts of users, or keeps their requests for the operator."""

    policy: SignUpPolicy
    sign_ups: SignUps
    proofs: Proofs
    counts: SignInCounts
    #: The tenant of SES in which an account begins that no operator knows; None for no tenant.
    tenant: Callable[[], str | None]
    clock: Clock

    def offer(self, principal: SessionPrincipal) -> SignUpOffer:
        """Return what a user can do, with a challenge if that is to name an account."""
        address = principal.session.address
        status = self.policy.status(address, self.sign_ups.get(address))
        if not status.needs_name:
            return SignUpOffer(status=status)
        challenge = new_challenge(self.proofs.key(), user_digest(address), self.clock())
        return SignUpOffer(status=status, challenge=challenge)

    def create(
        self, principal: SessionPrincipal, name: str, proof: Proof, client: str
    ) -> SignUpOffer:
        """Create a user's account, or ask the operator for it. A user can do so once."""
        check_text("name", name)
        session, now = principal.session, self.clock()
        before = self.sign_ups.get(session.address)
        status = self.policy.status(session.address, before)
        if not status.needs_name:
            raise sign_up_closed(status)
        digest = user_digest(session.address)
        checked = check_proof(proof, self.proofs.key(), digest, now)
        if not self.proofs.use(checked):
            raise wrong_proof("was used before: solve a new challenge")
        block = block_of(client)
        if block and not self.counts.count(f"accounts#{block}", DAY, PER_BLOCK, now):
            message = "Too many accounts come from your network today. Try again tomorrow."
            raise ServiceError("rate_limit_exceeded", message)
        request = SignUpRequest(
            user_id=session.user_id,
            address=session.address,
            state=SignUpState.PENDING,
            at=now,
            name=name,
        )
        if status is SignUpStatus.ON_APPROVAL:
            if not self.sign_ups.put(request, before):
                raise changed_meanwhile()
            return SignUpOffer(status=SignUpStatus.PENDING)
        tenant = self.tenant() if self.policy.mode is SignUpMode.OPEN else None
        account = create_account(self.sign_ups, request, before, Plan.FREE, tenant=tenant)
        return SignUpOffer(status=SignUpStatus.CREATED, account=account)


def create_account(  # noqa: PLR0913  what the transaction writes
    sign_ups: SignUps,
    request: SignUpRequest,
    before: SignUpRequest | None,
    plan: Plan,
    entry: LogEntry | None = None,
    *,
    tenant: str | None = None,
) -> Account:
    """Create the account that a sign-up names, with its user as the owner.

    Args:
        request: the sign-up, with a name and the present time.
        before: what is stored of it.
        entry: the first one of the account's log, if an operator creates the account.
        tenant: the strict one of SES in which it begins; None for no tenant.
    """
    account = Account(
        account_id=new_token(ACCOUNT_ID_LENGTH),
        name=request.name or "",
        plan=plan,
        created_at=request.at,
        contact=request.address,
        isolation=Isolation.STRICT if tenant else Isolation.NONE,
        tenant=tenant,
    )
    owner = Member(
        account_id=account.account_id,
        user_id=request.user_id,
        address=request.address,
        role=Role.OWNER,
        added_at=request.at,
    )
    created = replace(request, state=SignUpState.CREATED, account_id=account.account_id)
    if not sign_ups.create(created, before, account, owner, entry):
        raise changed_meanwhile()
    return account


def changed_meanwhile() -> Unavailable:
    return Unavailable("data store", "Another request has changed this sign-up. Look again.")
