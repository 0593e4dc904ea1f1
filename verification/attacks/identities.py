"""Use up what the provider allows for all accounts: 10,000 identities, and its calls.

A member adds and removes domains as fast as the service answers. Once nothing is in DNS, once the
owner's records are there for every name, as a wildcard in DNS gives them. Then domains that many
owners share.
"""

import json
from typing import Any, Final

from pillarbox.domain.sign_in.role import Role
from tests.contract.client import Api
from tests.contract.name_server import RECORDS
from tests.contract.service import Service
from verification.attacks.tally import Options, Tally, service_alone

_TRIES: Final = 60
#: So many identities more than before are not using them up.
_BEARABLE: Final = 2
_SHARED: Final = ("co.uk", "github.io", "amazonses.com", "eu-west-1.amazonses.com", "vercel.app")


def attack(service: Service, tries: int = _TRIES) -> Tally:
    """Run the attack on a service, and return the counts."""
    tally = Tally("identities left", "identities for nothing", "shared domains", "5xx")
    for is_proved in (False, True):
        before = len(service.ses.domains.known)
        _add_and_remove(service, tally, tries, is_proved=is_proved)
        left = len(service.ses.domains.known) - before
        tally["left over"] += left
        if left > _BEARABLE:
            tally.find("identities left", {"left": left, "proved": is_proved})
    for name in _SHARED:
        if _add(_member(service), name, tally).status == 201:
            tally.find("shared domains", name)
    return tally


def _add_and_remove(service: Service, tally: Tally, tries: int, *, is_proved: bool) -> None:
    api = _member(service)
    for number in range(tries):
        name = f"d{number}.{'proved' if is_proved else 'unproved'}.example"
        added = _add(api, name, tally)
        if added.status != 201:
            continue
        tally["added"] += 1
        if is_proved:
            proof: Any = added.json["records"][0]
            RECORDS[proof["host"], "TXT"] = [f'"{proof["value"]}"']
        api.raw("GET", f"/domains/{name}")
        if name in service.ses.domains.known and not is_proved:
            tally.find("identities for nothing", name)
        api.raw("DELETE", f"/domains/{name}")


def _add(api: Api, name: str, tally: Tally) -> Any:
    response = api.raw("POST", "/domains", json.dumps({"domain": name}))
    tally["tried"] += 1
    tally[str(response.status) if response.status < 500 else "5xx"] += 1
    return response


def _member(service: Service) -> Api:
    return Api(session=service.session(service.account(), Role.DEVELOPER))


def run(_: Options) -> Tally:
    """Run the attack on real functions and an emulated AWS."""
    with service_alone() as service:
        return attack(service)
