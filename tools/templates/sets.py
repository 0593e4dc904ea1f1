"""The sets of parameters for which the templates are checked."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from admin.use_cases.parameters import Profile
from admin.use_cases.preflight import longest_stack_name
from admin.use_cases.scale import choose_rate
from local.template import ROOT

#: AWS lets a new account run ten functions at the same time, and an established one 1,000
#: (docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html, 2026-11).
NEW_ACCOUNT: Final = 10
_ESTABLISHED_ACCOUNT: Final = 1000


@dataclass(frozen=True, slots=True)
class ParameterSet:
    """A deployment: the stack's name, its region, its parameters and the account's limit.

    Attributes:
        concurrency: how many functions the account may run at the same time.
    """

    name: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    stack: str = "pillarbox"
    region: str = "us-east-1"
    concurrency: int = _ESTABLISHED_ACCOUNT


#: The account that all of them are in.
ACCOUNT: Final = "123456789012"
_RELAY: Final = {
    "RelayImage": f"{ACCOUNT}.dkr.ecr.us-east-1.amazonaws.com/pillarbox@sha256:{'0' * 64}",
    "RelayNetwork": "us-east-1a,us-east-1b,pl-3b927c52",
}
_DOMAIN: Final = {
    "ApiDomain": "mail.example.com",
    "ApiCertificate": f"arn:aws:acm:us-east-1:{ACCOUNT}:certificate/{'0' * 36}",
}
_EVERYTHING: Final = {
    **_RELAY,
    **_DOMAIN,
    **Profile.PRODUCTION.parameters,
    "EmailsPerSecond": "500",
    "Firewall": "managed",
    "SignUp": "open",
    "ProvisioningKey": f"arn:aws:secretsmanager:us-east-1:{ACCOUNT}:secret:pillarbox-key-a1b2c3",
    "SignUpDomains": "example.com,example.org",
    "WidgetOrigins": "https://shop.example,https://example.org",
}


#: One of the regions with the longest names.
_LONG: Final = "ap-southeast-2"


def _dev() -> dict[str, str]:
    """Return the parameters of samconfig.toml, and what `deploy` adds in a new account."""
    config = tomllib.loads((ROOT / "samconfig.toml").read_text())
    words = config["default"]["deploy"]["parameters"]["parameter_overrides"]
    scale = {"EmailsPerSecond": str(choose_rate(NEW_ACCOUNT))}
    return scale | dict(word.split("=", 1) for word in words)


SETS: Final = (
    ParameterSet("dev", _dev(), "pillarbox-dev", concurrency=NEW_ACCOUNT),
    ParameterSet("prod"),
    ParameterSet("production", Profile.PRODUCTION.parameters),
    ParameterSet("no-edge", {"EdgeService": "none"}),
    ParameterSet("no-edge-managed", {"EdgeService": "none", "Firewall": "managed"}),
    ParameterSet("count", {"Firewall": "count"}),
    ParameterSet("basic", {"Firewall": "basic"}),
    ParameterSet("managed", {"Firewall": "managed"}),
    ParameterSet("relay", {**_RELAY, "EdgeService": "none"}),
    ParameterSet("relay-and-front", _RELAY),
    ParameterSet("relay-without-front", {**_RELAY, "LargeRequests": "off"}),
    ParameterSet("domain", _DOMAIN),
    ParameterSet("function-url", {"EdgeService": "url"}),
    ParameterSet("all-alarms", {"AlarmSet": "all"}),
    ParameterSet("no-webhooks", {"Webhooks": "off"}),
    ParameterSet("second-stack", {"AlarmSet": "all"}, "pillarbox-two"),
    ParameterSet("europe", {"Firewall": "managed"}, region="eu-west-1"),
    ParameterSet("a-thousand-a-second", {"EmailsPerSecond": "1000"}),
    ParameterSet("long-name", _EVERYTHING, "x" * longest_stack_name(_LONG), region=_LONG),
    ParameterSet("everything", _EVERYTHING),
)
