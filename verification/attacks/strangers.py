"""Make the service mail, invite and sign in people who have not asked for it.

Anonymous visitors and an owner of an account try it on real functions and emulated AWS, each on a
day of its own: codes to mailboxes that do not exist, invitations of operators and of people who do
not answer, codes to guess, other people's codes, and many forms of one mailbox.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta
from email import message_from_bytes, policy
from itertools import count
from typing import Any, Final, NamedTuple

from pillarbox import wiring
from pillarbox.domain.sign_in.codes import CODE_LENGTH, SHORT_PER_DAY
from pillarbox.domain.sign_in.role import Role
from pillarbox.domain.sign_in.session import SERVICE_ACCOUNT_ID
from pillarbox.domain.wilson import LEAST_TOTAL
from tests.contract.client import Api
from tests.contract.service import Service
from tests.contract.sign_in import Browser, add_user
from tests.contract.sign_up import sign_up, user_without_account
from tests.contract.test_messages import bounce, event
from verification.attacks.tally import Options, Tally, service_alone

_numbers: Final = count(1)
#: Bounces of a day count on the next one too.
_days: Final = count(30, 3)
_STOP: Final = re.compile(rf"/widget/report#({SERVICE_ACCOUNT_ID}\.[\w.-]+)")
_SIGN_IN: Final = re.compile(r"/app/sign-in#([0-9a-z]{32})")


class _Mail(NamedTuple):
    address: str
    message_id: str
    text: str


def attack(service: Service, tries: int = 40, parts: Collection[str] = ()) -> Tally:
    """Run each attack on a service, or only some, and return the counts."""
    tally = Tally(*_PARTS, "told nothing")
    service.deliver()
    with service.signing_up("open"):
        for name, each in _PARTS.items():
            if parts and name not in parts:
                continue
            start = wiring.utc_now().replace(hour=1, minute=0, second=30)
            with service.at(start + timedelta(days=next(_days))):
                each(service, tally, tries)
            service.codes()
    return tally


def _bounce(service: Service, tally: Tally, tries: int) -> None:
    """Ask for codes to mailboxes that do not exist, from many networks."""
    for number in range(tries):
        is_admitted = _ask(service, _new("nobody"), number)
        mails = _mailed(service)
        for mail in mails:
            gone = bounce(mail.address)
            service.report(event(SERVICE_ACCOUNT_ID, mail.message_id, "Bounce", gone))
        tally["mailed to nobody"] += len(mails)
        tally["told nothing"] += not mails and is_admitted
    tally["past the pause"] += max(tally["mailed to nobody"] - LEAST_TOTAL, 0)


def _stop(service: Service, tally: Tally, _: int) -> None:
    """Go on writing to somebody who has used the link in the email of a stranger's request."""
    address = _new("tired")
    _ask(service, address, 1)
    (mail,) = _mailed(service)
    found = _STOP.search(mail.text)
    if found:
        Api().raw("POST", "/preview-keys/reports", json.dumps({"token": found[1]}))
    _ask(service, address, 2)
    _invitation(service, service.account(), address)
    tally["bombed"] += len(_mailed(service)) + (found is None)


def _invite(service: Service, tally: Tally, _: int) -> None:
    """Be the first to invite somebody, who then works in the stranger's account."""
    account, address = service.account(), _new("carol")
    _invitation(service, account, address)
    (mail,) = _mailed(service)
    (link,) = _SIGN_IN.findall(mail.text)
    browser = Browser()
    session = browser.post("", {"link": link}).json
    tally["joined unasked"] += session["account"] is not None
    tally["joined unasked"] += browser.token(account).status != 422
    tally["asked"] += len(session["invitations"])


def _invite_operator(service: Service, tally: Tally, _: int) -> None:
    """Have the service send a link that signs in an operator, also one who becomes it later."""
    team = wiring.services().team
    for becomes in (False, True):
        address = _new("operator")
        if not becomes:
            team.set_operator(address, operator=True)
        _invitation(service, service.account(), address)
        (mail,) = _mailed(service)
        team.set_operator(address, operator=True)
        for link in _SIGN_IN.findall(mail.text):
            tally["operators signed in"] += Browser().post("", {"link": link}).status == 200


def _guess(service: Service, tally: Tally, tries: int) -> None:
    """Collect short codes of one user for a day, to guess them: each gives five tries."""
    address, start = _new("victim"), service.clock()
    add_user(address)
    for number in range(tries):
        _at(service, start + timedelta(minutes=30 * number))
        _ask(service, address, number)
    lengths = [len(code.code) for code in service.codes()]
    tally["codes of a day"] += len(lengths)
    tally["to guess"] += max(lengths.count(CODE_LENGTH) - SHORT_PER_DAY, 0)


def _kill(service: Service, tally: Tally, _: int) -> None:
    """Ask for a code of somebody whose own code is on its way."""
    address, browser = _new("waiting"), Browser()
    add_user(address)
    flow = browser.request_code(address).json["flow"]
    (code,) = service.codes()
    for number in range(3):
        _ask(service, address, number)
    tally["killed codes"] += browser.sign_in(flow, code.code).status != 200


def _multiply(service: Service, tally: Tally, _: int) -> None:
    """Sign up with many forms of one mailbox."""
    name, created = f"mallory{next(_numbers)}", 0
    for number in range(3):
        service.codes()
        api = user_without_account(service, f"{name}+{number}@gmail.com")
        if api.raw("GET", "/sign-up").json["challenge"]:
            created += sign_up(api).status == 201
    tally["second accounts"] += max(created - 1, 0)


def _ask(service: Service, address: str, network: int) -> bool:
    """Ask for a code from a network of its own, a minute later; return if newcomers may get one."""
    _at(service, service.clock() + timedelta(minutes=1))
    answer = Browser().request_code(address, f"198.{network % 200}.7.1").json
    return bool(answer.get("newcomers", {"admitted": True})["admitted"])


def _at(service: Service, moment: datetime) -> None:
    service.clock.fixed = moment


def _invitation(service: Service, account: str, address: str) -> None:
    boss = Api(session=service.session(account, Role.OWNER, f"boss-{account}@shop.example"))
    boss.raw("POST", "/members", json.dumps({"email": address, "role": "viewer"}))


def _mailed(service: Service) -> list[_Mail]:
    """Send what is queued, and return it."""
    already = len(service.ses.mails)
    service.mail_codes()
    service.deliver()
    return [*map(_read, service.ses.mails[already:])]


def _read(sent: dict[str, Any]) -> _Mail:
    mail = message_from_bytes(sent["raw"], policy=policy.default)
    tags = {tag["Name"]: tag["Value"] for tag in sent["EmailTags"]}
    text = mail.get_body(("plain",)).get_content()  # type: ignore[union-attr]
    return _Mail(str(mail["To"]), tags["message"], text)


def _new(name: str) -> str:
    return f"{name}{next(_numbers)}@shop.example"


_PARTS: Final[Mapping[str, Callable[[Service, Tally, int], None]]] = {
    "past the pause": _bounce,
    "bombed": _stop,
    "joined unasked": _invite,
    "operators signed in": _invite_operator,
    "to guess": _guess,
    "killed codes": _kill,
    "second accounts": _multiply,
}


def run(_: Options) -> Tally:
    """Run the attacks."""
    with service_alone() as service:
        return attack(service)
