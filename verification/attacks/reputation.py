"""Send to mailboxes that do not exist, with a key that was stolen, until somebody stops it.

Every email bounces. The owner's other key, another account and the codes of the account go on as
before. Then the same with a template of which every email bounces, beside others that arrive.
"""

from typing import Any, Final

from tests.contract.bodies import otp, raw_html
from tests.contract.client import Api
from tests.contract.service import Service
from verification.attacks.tally import Options, Tally, service_alone

_TRIES: Final = 100
#: From so many bounces on a scope of its own must be stopped.
_ENOUGH: Final = 20
_WELCOME: Final = {"app_name": "Shop", "name": "Ada"}


def attack(service: Service, tries: int = _TRIES, mode: str = "act") -> Tally:
    """Run the attack on a service whose breaker has a mode, and return the counts."""
    tally = Tally("bounces accepted", "neighbours refused", "wrong refusals", "5xx")
    with service.breaking(mode):
        _with_a_stolen_key(service, tally, tries)
        _with_a_template(service, tally, tries)
    return tally


def _with_a_stolen_key(service: Service, tally: Tally, tries: int) -> None:
    account = service.account()
    stolen, own = (Api(service.key(account)) for _ in range(2))
    neighbour = service.live()
    accepted = 0
    for number in range(tries):
        address = f"nobody{number}@no-mailbox.example"
        accepted += _bounces(service, tally, account, stolen, raw_html(to=address), address)
        for other in (own, neighbour):
            _must_pass(tally, other.send(raw_html()))
    _must_pass(tally, stolen.send(otp()))
    tally["accepted with the key"] = accepted
    if accepted > _ENOUGH:
        tally.find("bounces accepted", {"key": accepted})


def _with_a_template(service: Service, tally: Tally, tries: int) -> None:
    account = service.account()
    api, accepted = Api(service.key(account)), 0
    for number in range(tries):
        address = f"nobody{number}@no-mailbox.example"
        body = raw_html(to=address, html=..., subject=...)
        body |= {"starterTemplate": "welcome", "variables": _WELCOME}
        accepted += _bounces(service, tally, account, api, body, address)
        _must_pass(tally, api.send(raw_html()))
    tally["accepted with the template"] = accepted
    if accepted > _ENOUGH:
        tally.find("bounces accepted", {"template": accepted})


def _bounces(  # noqa: PLR0917  who sends what
    service: Service, tally: Tally, account: str, api: Api, body: dict[str, Any], address: str
) -> int:
    """Send an email that bounces; return whether it was accepted."""
    response = api.send(body)
    tally["tried"] += 1
    if response.status == 200:
        service.bounce(account, response.json["messageId"], address)
        return 1
    tally["5xx" if response.status >= 500 else str(response.code)] += 1
    if response.code != "sending_paused":
        tally.find("wrong refusals", response.code)
    return 0


def _must_pass(tally: Tally, response: Any) -> None:
    tally["neighbours"] += 1
    if response.status != 200:
        tally.find("neighbours refused", response.code)


def run(_: Options) -> Tally:
    """Run the attack on real functions and an emulated AWS."""
    with service_alone() as service:
        return attack(service)
