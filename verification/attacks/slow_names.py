"""Let a viewer look at a domain whose name server is silent, again and again.

The real services run on emulated AWS in this process, with a real name server. Eight threads look
for the viewer, and then another account sends. A thread may wait for the silent server twice, since
the first look may end before all questions were asked; then the process knows better. Beyond the
budget of a minute nobody is asked.

The threads do without the function: Powertools' resolver has one request at a time. The viewer's
own request comes at the end.
"""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from statistics import median
from time import perf_counter
from typing import Final

from pillarbox.application.slow_requests import PER_MINUTE
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.sign_in.role import Role
from pillarbox.wiring import services
from tests.contract.bodies import otp
from tests.contract.client import Api
from tests.contract.service import Service
from verification.attacks.tally import Options, Tally, service_alone

_THREADS: Final = 8
#: Seconds; a silent server takes two.
_SLOW: Final = 1.0


def attack(service: Service, calls: int = 200, sends: int = 60) -> Tally:
    """Call as a viewer within one minute, and send with another account before and after."""
    tally = Tally("slow calls too many", "answers over the budget", "others refused")
    account = service.account()
    domain = service.domain(account, f"{account}.slow.example", verified=False)
    viewer = Api(session=service.session(account, Role.VIEWER, f"v-{account}@shop.example"))
    other = Api(service.key(service.account()))
    with service.at(datetime.now(UTC).replace(second=1)):
        alone = [_seconds_of_send(other, tally) for _ in range(sends)]

        def look(_: int) -> tuple[bool, float]:
            began = perf_counter()
            try:
                services().account_domains.show(account, domain)
            except ServiceError as error:
                if error.code != "rate_limit_exceeded":
                    raise
                return False, perf_counter() - began
            return True, perf_counter() - began

        with ThreadPoolExecutor(_THREADS) as pool:
            looks = [*pool.map(look, range(calls))]
        last = viewer.raw("GET", f"/domains/{domain}")
        after = [_seconds_of_send(other, tally) for _ in range(sends)]
    slow = sum(seconds > _SLOW for _, seconds in looks)
    answered = sum(is_answered for is_answered, _ in looks)
    tally |= {"calls": calls, "answered": answered, "slow": slow}
    tally["refused"] = calls - answered
    tally["seconds of looks"] = round(sum(seconds for _, seconds in looks))
    tally["slow calls too many"] = max(slow - 2 * _THREADS, 0)
    tally["answers over the budget"] = max(answered - PER_MINUTE, 0) + (last.status != 429)
    tally["ms of a send alone"] = round(1000 * median(alone))
    tally["ms of a send after them"] = round(1000 * median(after))
    return tally


def _seconds_of_send(api: Api, tally: Tally) -> float:
    began = perf_counter()
    answer = api.send(otp())
    seconds = perf_counter() - began
    if answer.status != 200:
        tally.find("others refused", f"{answer.status} {answer.code}")
    return seconds


def run(_: Options) -> Tally:
    """Run the attack."""
    with service_alone() as service:
        return attack(service)
