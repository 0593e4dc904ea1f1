"""Send a one-time code by email, if its address is a user's or may sign up."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from pillarbox.application.ports import (
    Clock,
    DomainVerdict,
    MailDomains,
    Messages,
    SendMail,
    ServiceAddress,
)
from pillarbox.application.sign_in.mail_to_strangers import MailToStrangers
from pillarbox.application.sign_in.ports import PreviewAccounts, SignInCounts, Users
from pillarbox.domain.address import domain_of, mailbox_key
from pillarbox.domain.errors import Json
from pillarbox.domain.ids import named_id
from pillarbox.domain.sign_in.codes import CODE_TIME, CodeRequest
from pillarbox.domain.sign_in.session import SERVICE_ACCOUNT_ID, user_digest
from pillarbox.domain.sign_in.sign_up import (
    CODES,
    DAY,
    NEWCOMERS,
    PARTS,
    PER_STRANGER,
    STRANGERS,
    STRANGERS_COUNT,
    SignUpMode,
    SignUpPolicy,
)
from pillarbox.domain.sign_in.strangers import Audience, Cause
from pillarbox.rendering.notice import code_source, sign_up_source

#: Subject, template and values of an email.
type _Text = tuple[str, str, dict[str, Json]]

_NOT_WELCOME: Final = (
    "A request to sign in to Pillarbox has this address. It belongs to no account here, and"
    " you cannot create one yourself."
)
_WHOM_TO_ASK: Final = (
    "Ask an owner of your team's account to add this address, or ask the operator of this service"
    " for an account."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeMail:
    """Sends codes."""

    users: Users
    counts: SignInCounts
    policy: SignUpPolicy
    previews: PreviewAccounts
    #: Called for strangers alone, because it takes long to load.
    domains: Callable[[], MailDomains]
    messages: Messages
    send_mail: SendMail
    strangers: MailToStrangers
    base_url: ServiceAddress
    clock: Clock

    def send(self, request: CodeRequest) -> bool:
        """Accept the email of a code; return False if there is none to send.

        There is none if the code has expired, or the email was accepted before. An address that
        wants no preview mail gets no code for a preview key. Newcomers get no more codes than those
        of the day. If an address belongs to no user and cannot sign up, an email says so, but not
        each time, and never while sign-up is closed. Who has stopped such mail and is no user gets
        none. Strangers get no email if their domain accepts none, or while too many bounce: this is
        found out here, where no caller can measure it.
        """
        now, expires_at = self.clock(), request.at + CODE_TIME
        message_id = named_id(f"code {request.flow_id}", request.at)
        if now >= expires_at or self.messages.get(SERVICE_ACCOUNT_ID, message_id) is not None:
            return False
        send, send_to_stranger = (
            partial(each, message_id=message_id, deadline=expires_at)
            for each in (self.send_mail, self.strangers.send)
        )
        audience = Audience.VISITORS if request.for_preview else Audience.NEWCOMERS
        cause = Cause(audience, request.party)
        if request.for_preview:
            if self.previews.is_stopped(mailbox_key(request.address)) or self._are_paused(cause):
                return False
            # The code is typed into the page that asked for it, so the email has no link to it.
            send_to_stranger(request.address, *_code(request.address, request.code, link=""), cause)
            return True
        user = self.users.get(request.address)
        is_welcome = user is not None or self.policy.admits(request.address)
        address = user.address if user else request.address
        if user is None and not self._may_reach(address, cause):
            return False
        if user is None and self.previews.is_stopped(mailbox_key(address)):
            return False
        # Before the count, which would otherwise count an email that is not sent.
        link = self._link(request) if is_welcome else ""
        if user is None and not self._may_write(address, cause.party, is_welcome=is_welcome):
            return False
        text = _code(address, request.code, link) if is_welcome else _refusal(address)
        if user:
            send(address, *text)
        else:
            send_to_stranger(address, *text, cause)
        return is_welcome

    def _may_reach(self, address: str, cause: Cause) -> bool:
        if self.policy.mode is SignUpMode.CLOSED or self._are_paused(cause):
            return False
        domain = domain_of(address)
        return self.domains().look_up([domain])[domain] is DomainVerdict.ACCEPTS

    def _are_paused(self, cause: Cause) -> bool:
        return self.strangers.paused_until(cause) is not None

    def _may_write(self, address: str, party: str, *, is_welcome: bool) -> bool:
        """Count an email to an address that belongs to no user.

        A code counts for all newcomers. An email without one counts for the address, then for all.
        Of both a network takes a tenth.
        """
        limits = [(user_digest(address), PER_STRANGER), ("all", STRANGERS)]
        if is_welcome:
            limits = [(CODES, NEWCOMERS)]
        if party:
            name, most = limits[-1]
            limits.insert(-1, (f"{name}/{party}", most // PARTS))
        now = self.clock()
        return all(
            self.counts.count(f"{STRANGERS_COUNT}{name}", DAY, most, now) for name, most in limits
        )

    def _link(self, request: CodeRequest) -> str:
        # The code is in the fragment: no server sees it, and no scanner's GET uses it up.
        return f"{self.base_url()}/app/sign-in#{request.flow_id}.{request.code}"


def _code(address: str, code: str, link: str) -> _Text:
    return (
        "Your Pillarbox code",
        code_source(),
        {"code": code, "minutes": CODE_TIME.seconds // 60, "url": link, "address": address},
    )


def _refusal(address: str) -> _Text:
    values: dict[str, Json] = {
        "title": "You have no account yet",
        "paragraphs": [_NOT_WELCOME, _WHOM_TO_ASK],
        "url": "",
        "reason": f"a code was requested for {address}. If that was not you, ignore this email",
    }
    return "Sign in to Pillarbox", sign_up_source(), values
