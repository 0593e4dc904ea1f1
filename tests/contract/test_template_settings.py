"""Each function gets exactly the settings that its code reads."""

import inspect
import re
from collections import UserDict
from typing import Any, Final, get_protocol_members
from unittest import mock

from local import template
from pillarbox.http.mcp.tools import UseCases
from pillarbox.settings import PREFIX, Settings, all_settings
from pillarbox.wiring import Wiring
from tests.aws import aws, running_aws
from tests.loops import for_each

__all__ = ["aws", "running_aws"]

_SOURCE: Final = template.load()
_FUNCTIONS: Final[dict[str, dict[str, Any]]] = {
    resource["Properties"]["CodeUri"]: resource["Properties"]
    for resource in _SOURCE["Resources"].values()
    if resource["Type"] == "AWS::Serverless::Function"
}
#: Values for the settings that are off, or not just any text, without one.
_VALUES: Final = {
    Settings.relay.variable: "relay.example:587",
    Settings.widget_origins.variable: "https://shop.example",
    Settings.strangers.variable: "on",
}
_DEFAULTS: Final = {row.variable: row.default for row in all_settings() if row.default}
#: Every function has it, so that each of those that serve requests can ask for it when a key has
#: `sources`. Their roles say which may read the secret (test_template_roles.py).
_EDGE_SECRET: Final = {Settings.edge_secret_id.variable}
#: What a use case makes only when it needs it: keys.py, posting to AWS, and received mail.
_MADE_LATER: Final = {
    "account_deletion": {"kept_contents", "receipt_rules"},
    "api_keys": {"send_mail"},
    "sweep": {"received_queue", "receiving_limit"},
    "webhook_worker": {"aws_poster", "received_reading"},
}
#: What authenticates the callers of a route.
_AUTHENTICATION: Final = {
    "known": "caller_authentication",
    "managing": "caller_authentication",
    "users": "session_authentication",
    "members": "session_authentication",
    "operators": "operator_authentication",
    "operating": "operator_authentication",
}
#: Lambda itself sets it.
_OF_RUNTIME: Final = {"AWS_DEFAULT_REGION": "eu-west-1"}
#: Not set in AWS, where the system has its own name servers and no webhook is local.
_LOCAL: Final = {Settings.dns_servers.variable, Settings.local_webhooks.variable}


class _RecordedEnvironment(UserDict[str, str]):
    """Variables that record which of them are read."""

    def __init__(self, variables: dict[str, str]) -> None:
        self.read: set[str] = set()
        super().__init__(variables)

    def __getitem__(self, name: str) -> str:
        self.read.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.read.add(name)
        return super().get(name, default)


def _template_settings(function: str) -> set[str]:
    return {
        name
        for place in (_SOURCE["Globals"]["Function"], _FUNCTIONS[function])
        for name in place.get("Environment", {}).get("Variables", {})
        if name.startswith(PREFIX)
    }


@for_each("function", sorted(_FUNCTIONS))
def test_a_function_reads_exactly_its_settings(function: str, aws: object) -> None:
    assert aws
    settings = _template_settings(function)
    values = dict.fromkeys(settings, "10") | _DEFAULTS | _VALUES  # a number is also any text
    environment = _RecordedEnvironment({name: str(values[name]) for name in settings} | _OF_RUNTIME)
    source = (template.ROOT / function / "app.py").read_text()
    use_cases = set(re.findall(r"services\(\)\s*\.(\w+)", source)) - {"is_of_edge"}
    callers = set(re.findall(r"@route\(\s*\"[^\"]+\",\s*(\w+)\(", source))
    use_cases |= {_AUTHENTICATION[name] for name in callers}
    if "services()," in source:
        use_cases |= get_protocol_members(UseCases)
    use_cases |= {later for name in use_cases for later in _MADE_LATER.get(name, ())}
    own = set(re.findall(r"services\(\)\s*\.settings\.(\w+)", source))
    assert use_cases
    wiring = Wiring(Settings(environment))
    environment.read.clear()
    wiring.choose_client()
    for name in own:
        getattr(wiring.settings, name)
    for name in use_cases:
        use_case = getattr(wiring, name)
        if inspect.ismethod(use_case):  # made from something of the function's own
            use_case(mock.Mock())
    given_elsewhere = _LOCAL | _EDGE_SECRET | _OF_RUNTIME.keys()
    assert environment.read - given_elsewhere == settings - _EDGE_SECRET
