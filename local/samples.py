"""Sample events, whose placeholders become what the running local stack has."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import httpx

from admin.connection import sdk_pointed_at
from admin.wiring import OperatorWiring
from local.seed import OWNER
from local.template import ROOT
from pillarbox.settings import Settings

type Values = Mapping[str, Callable[[], str]]

_EVENTS: Final = ROOT / "events"
_OPERATOR: Final = "operator@samples.example"
_PLACEHOLDER: Final = re.compile(r"<([A-Z]+_[A-Z]+)>")


class NoSuchFunction(Exception):
    """There is no sample event of this name; the text lists the names."""


def sample_event(function: str, values: Values) -> str:
    """Return the sample event of a function, with a value for each placeholder that it has.

    Args:
        function: the name that it has in the template.
        values: what gives the value of each placeholder; called only if the sample needs it.
    """
    functions = {camel_case(path.stem): path for path in sorted(_EVENTS.glob("*.json"))}
    if function not in functions:
        raise NoSuchFunction(f"FUNCTION is one of: {', '.join(functions)}.")
    text = functions[function].read_text()
    given = {name: values[name]() for name in sorted({*_PLACEHOLDER.findall(text)})}
    return _PLACEHOLDER.sub(lambda placeholder: given[placeholder[1]], text)


def values_of(stack: Mapping[str, Any]) -> Values:
    """Return what a running stack puts in place of each placeholder.

    A message, a template and an operator are created for the sample that names them: nothing of
    the user's is shown or deleted.

    Args:
        stack: the content of stack.json.
    """
    key = {"X-API-Key": stack["keys"]["live"]}
    mail = {"to": "ada@example.com", "subject": "A sample", "html": "<p>Hello</p>"}
    template = {"name": "A sample", "category": "samples"}

    def ask(method: str, path: str, headers: Mapping[str, str], body: object = None) -> Any:  # noqa: ANN401  JSON
        with httpx.Client(base_url=f"{stack['base_url']}/api/v1", trust_env=False) as api:
            response = api.request(method, path, headers=headers, json=body, timeout=60)
            return response.raise_for_status().json()

    def access_token(address: str = OWNER) -> str:
        with sdk_pointed_at(stack["environment"]):
            team = OperatorWiring(Settings(stack["environment"])).team
            if address == _OPERATOR:
                team.set_operator(address, operator=True)
            link = team.new_link(address)
        origin = {"Origin": stack["base_url"], "Sec-Fetch-Site": "same-origin"}
        return str(ask("POST", "/session", origin, {"link": link})["token"])

    def template_id() -> str:
        authorization = {"Authorization": f"Bearer {access_token()}"}
        return str(ask("POST", "/templates", authorization, template)["id"])

    return {
        "API_KEY": lambda: key["X-API-Key"],
        "ACCESS_TOKEN": access_token,
        "OPERATOR_TOKEN": lambda: access_token(_OPERATOR),
        "MESSAGE_ID": lambda: str(ask("POST", "/emails", key, mail)["messageId"]),
        "TEMPLATE_ID": template_id,
        "ENDPOINT_ID": lambda: str(ask("GET", "/webhooks", key)["items"][0]["id"]),
    }


def camel_case(name: str) -> str:
    """Return the name that a function has in the template."""
    return re.sub(r"(?:^|_)(\w)", lambda letter: letter[1].upper(), name)
