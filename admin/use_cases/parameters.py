"""The parameters of a deployment: the template's defaults, samconfig.toml and the command line."""

import hashlib
import json
import shlex
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

from pillarbox.domain.errors import FieldError, ValidationFailed

_OPTION: Final = "--set"

type Parameters = Mapping[str, str]


class Profile(StrEnum):
    """What a stack is for. docs/costs.md has the bill of each."""

    SMALL = "small"
    PRODUCTION = "production"

    @property
    def parameters(self) -> Parameters:
        """The parameters that differ from the template's defaults, which are the small profile."""
        match self:
            case Profile.SMALL:
                return {}
            case Profile.PRODUCTION:
                steps = "Canary10Percent10Minutes"
                return {"AlarmSet": "all", "Firewall": "basic", "Rollout": steps}


def parse_overrides(texts: Iterable[str]) -> Parameters:
    """Read parameters that are written as `Name=Value`, or several in one text."""
    parameters: dict[str, str] = {}
    for pair in (pair for text in texts for pair in _split(text)):
        name, equals, value = pair.partition("=")
        if not equals or not name.isalnum() or name == "ParameterKey":
            message = f'must be written as Name=Value or Name="two words", not as {pair}.'
            raise ValidationFailed(FieldError(_OPTION, message, "format"))
        parameters[name] = value
    return parameters


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        message = f"has a quotation mark that is not closed: {text}"
        raise ValidationFailed(FieldError(_OPTION, message, "format")) from None


def choose(
    defaults: Parameters, deployed: Parameters, profile: Profile | None, own: Parameters
) -> Parameters:
    """Return a value for each parameter of the template.

    Args:
        defaults: the template's.
        deployed: those of the stack; empty if there is none yet.
        profile: the one that the operator chose now, if any.
        own: what the operator wrote, which comes before all others.
    """
    for name in own:
        if name not in defaults:
            message = f"names {name}, and template.yaml has no such parameter."
            raise ValidationFailed(FieldError(_OPTION, message, "unknown"))
    values = {name: deployed.get(name, default) for name, default in defaults.items()}
    if profile:
        others = (name for each in Profile for name in each.parameters)
        values |= {name: defaults[name] for name in others} | dict(profile.parameters)
    return values | dict(own)


def differences(before: Parameters, after: Parameters) -> list[str]:
    """Return a line for each parameter that changes."""
    return [
        f"{name}: {before.get(name, '') or 'empty'} -> {after.get(name, '') or 'empty'}"
        for name in sorted({*before, *after})
        if before.get(name, "") != after.get(name, "")
    ]


def digest(parameters: Parameters, undone_update: str = "") -> str:
    """Return a hex digest: a change of a value makes it another one.

    `undone_update` is when the update began that CloudFormation has undone. It kept the versions of
    that update. Lambda publishes the same content no second time, so the same release would fail:
    https://docs.aws.amazon.com/lambda/latest/api/API_PublishVersion.html
    """
    text = json.dumps([sorted(parameters.items()), undone_update])
    return hashlib.sha256(text.encode()).hexdigest()
