"""The parameters of a deployment: the template's defaults, samconfig.toml and the command line."""

import hashlib
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pillarbox.domain.errors import FieldError, ValidationFailed

_OPTION: Final = "--parameter-overrides"
_PLAIN: Final = re.compile(r"[\w./:@?=&%+-]+")

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
                return {"AlarmSet": "all", "Firewall": "basic"}


@dataclass(frozen=True, slots=True)
class SamArguments:
    """The operator's arguments for sam: its parameters, and the other words."""

    overrides: Parameters
    words: Sequence[str]


def parse_arguments(words: Sequence[str]) -> SamArguments:
    """Split the parameters from sam's other arguments."""
    pairs: list[str] = []
    others: list[str] = []
    within = False
    for word in words:
        if word.startswith("-"):
            option, equals, value = word.partition("=")
            within = option == _OPTION and not equals
            if option != _OPTION:
                others.append(word)
            elif equals:
                pairs.append(value)
        else:
            (pairs if within else others).append(word)
    return SamArguments(parse_overrides(pairs), others)


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


def choose(defaults: Parameters, configured: Parameters, overrides: Parameters) -> Parameters:
    """Return a value for every parameter: the command line wins, then samconfig.toml."""
    for name in (*configured, *overrides):
        if name not in defaults:
            message = f"names {name}, and template.yaml has no such parameter."
            raise ValidationFailed(FieldError(_OPTION, message, "unknown"))
    return {**defaults, **configured, **overrides}


def differences(before: Parameters, after: Parameters) -> list[str]:
    """Return a line for each parameter that changes."""
    return [
        f"{name}: {before.get(name, '') or 'empty'} -> {after.get(name, '') or 'empty'}"
        for name in sorted({*before, *after})
        if before.get(name, "") != after.get(name, "")
    ]


def digest(parameters: Parameters, undone_update: str = "") -> str:
    """Return a hex digest: a change of a value makes it another one.

    Args:
        parameters: the values.
        undone_update: when the update began that CloudFormation has undone. It kept the versions
            of that update. Lambda publishes the same content no second time, so the same release
            would fail: https://docs.aws.amazon.com/lambda/latest/api/API_PublishVersion.html
    """
    words = [*to_words(parameters), undone_update]
    return hashlib.sha256(shlex.join(words).encode()).hexdigest()


def to_words(parameters: Parameters) -> list[str]:
    """Return the arguments that pass the parameters to sam."""
    return [_OPTION, *(f"{name}={_quote(value)}" for name, value in sorted(parameters.items()))]


def _quote(value: str) -> str:
    """Quote a value for sam, which accepts an empty value only in quotes."""
    if _PLAIN.fullmatch(value):
        return value
    return '"' + value.replace('"', '\\"') + '"'
