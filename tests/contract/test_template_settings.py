"""Each function and each container gets the settings that it reads; use cases get their ports."""

import inspect
import re
from collections import UserDict
from pathlib import Path
from typing import Any, Final, cast, get_protocol_members
from unittest import mock

import pytest

from front.events import FUNCTIONS
from local import template
from pillarbox.http.mcp.tools import UseCases
from pillarbox.settings import PREFIX, Place, Settings, all_settings
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
    Settings.smtp_proxies.variable: "10.87.0.0/24",
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


def _read(settings: set[str], *files: Path) -> set[str]:
    """Return which settings a program of some files reads, except those that are set elsewhere."""
    values = dict.fromkeys(settings, "10") | _DEFAULTS | _VALUES  # a number is also any text
    environment = _RecordedEnvironment({name: str(values[name]) for name in settings} | _OF_RUNTIME)
    source = "".join(file.read_text() for file in files)
    use_cases = set(re.findall(r"services\(\)\s*\.(\w+)", source)) - {"is_of_edge"}
    callers = set(re.findall(r"@route\(\s*\"[^\"]+\",\s*(\w+)\(", source))
    use_cases |= {_AUTHENTICATION[name] for name in callers}
    if "services()," in source:
        use_cases |= get_protocol_members(UseCases)
    use_cases |= {later for name in use_cases for later in _MADE_LATER.get(name, ())}
    own = re.findall(r"\b(?:settings|Settings\(os\.environ\))\.(\w+)", source)
    assert use_cases
    wiring = Wiring(Settings(environment))
    environment.read.clear()
    wiring.choose_client()
    for name in vars(Settings).keys() & own:
        getattr(wiring.settings, name)
    for name in use_cases:
        use_case = getattr(wiring, name)
        if inspect.ismethod(use_case):  # made from something of the function's own
            use_case(mock.Mock())
    return environment.read - _LOCAL - _EDGE_SECRET - _OF_RUNTIME.keys()


@for_each("function", sorted(_FUNCTIONS))
def test_a_function_reads_exactly_its_settings(function: str, aws: object) -> None:
    assert aws
    settings = _template_settings(function)
    assert _read(settings, template.ROOT / function / "app.py") == settings - _EDGE_SECRET


@for_each(("place", "functions"), [("relay", ()), ("front", tuple(FUNCTIONS.values()))])
def test_a_container_reads_exactly_its_settings(
    place: Place, functions: tuple[str, ...], aws: object
) -> None:
    """What the user may set has a default in the container."""
    assert aws
    settings = {row.variable for row in all_settings() if place in row.set_by}
    of_user = {row.variable for row in all_settings() if "user" in row.set_by}
    handlers = (template.ROOT / "functions" / name / "app.py" for name in functions)
    assert _read(settings, *(template.ROOT / place).glob("*.py"), *handlers) - of_user == settings


#: Figures; what an object has for itself; what the worker or the operator's command replaces.
_KEEP_DEFAULTS: Final = {
    *("Aggregation.tuning", "HistoryQueries.tuning", "LedgerCheck.tuning"),
    *("CallerLookup.seen", "SeenKeys.costly", "SeenKeys.refused", "SeenKeys.valid"),
    *("VolumeWatch._counted", "VolumeWatch._counts", "VolumeWatch._lock"),
    *("DynamoFlows.key", "EdgeSecret.read", "Delivery.has_time"),
    *("SesDomains.errors", "SesSuppressions.errors", "SesTenants.errors"),
}


def test_no_other_argument_keeps_its_default(monkeypatch: pytest.MonkeyPatch, aws: object) -> None:
    """One whose name the wiring does not have keeps it without an error."""
    assert aws
    fill, kept = Wiring.fill, set[str]()

    def noted(wiring: Wiring, kind: Any, **given: object) -> object:
        def make(**filled: object) -> object:
            left = kind.__init__.__annotations__.keys() - filled.keys() - {"return"}
            kept.update(f"{kind.__name__}.{name}" for name in left)
            return kind(**filled)

        vars(make)["__init__"] = kind.__init__
        return fill(wiring, cast("Any", make), **given)

    monkeypatch.setattr(Wiring, "fill", noted)
    values = dict.fromkeys((row.variable for row in all_settings()), "10") | _DEFAULTS | _VALUES
    wiring = Wiring(Settings(values | dict.fromkeys(_LOCAL, "") | _OF_RUNTIME))
    for name in dir(wiring):
        getattr(wiring, name)
    assert kept == _KEEP_DEFAULTS
