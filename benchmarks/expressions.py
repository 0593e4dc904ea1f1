"""The condition and update expressions of DynamoDB, as far as the service uses them."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from types import CodeType
from typing import Any, Final

from pillarbox.adapters.dynamodb.attributes import from_item, to_attribute

_TOKEN: Final = re.compile(
    r"attribute_(?P<test>not_exists|exists)\((?P<path>[#\w]+)\)"
    r"|(?P<value>:\w+)|(?P<word>AND|OR|NOT)\b|(?P<name>#?\w+)|(?P<operator><>|<=|>=|=|<|>)"
)
_CLAUSE: Final = re.compile(r"\b(SET|REMOVE|ADD)\b")
_OPERATORS: Final = {"=": "==", "<>": "!="}

type Item = Mapping[str, Mapping[str, Any]]


class _Absent:
    """An attribute that does not exist: every comparison with it is false."""

    def _compare(self, _: object) -> bool:
        return False

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compare
    __hash__ = None  # type: ignore[assignment]


_ABSENT: Final = _Absent()


def holds(item: Item | None, request: Mapping[str, Any]) -> bool:
    """Return whether the condition of a request holds for the stored item."""
    if "ConditionExpression" not in request:
        return True
    attributes = from_item(item or {})
    names = request.get("ExpressionAttributeNames", {})

    def get(name: str) -> object:
        return attributes.get(names.get(name, name), _ABSENT)

    scope = {"get": get, "absent": _ABSENT, "values": _values(request)}
    return bool(eval(_compiled(request["ConditionExpression"]), scope))  # noqa: S307  our own


def updated(item: Item, request: Mapping[str, Any]) -> Item:
    """Return an item after the update expression of a request."""
    names, values = request.get("ExpressionAttributeNames", {}), _values(request)
    old, new = from_item(item), dict(item)
    _, *parts = _CLAUSE.split(request["UpdateExpression"])
    for clause, terms in zip(parts[::2], parts[1::2], strict=True):
        for term in terms.split(","):
            name, *operands = term.replace("=", " ").replace("+", " ").split()
            name = names.get(name, name)
            if clause == "REMOVE":
                new.pop(name, None)
            elif clause == "ADD":
                new[name] = to_attribute(old.get(name, 0) + values[operands[0]])
            else:
                new[name] = to_attribute(_sum(operands, old, values))
    return new


def _sum(operands: list[str], old: Mapping[str, Any], values: Mapping[str, Any]) -> Any:  # noqa: ANN401  any value
    first, *others = (values[o] if o.startswith(":") else old[o] for o in operands)
    return first + others[0] if others else first


def _values(request: Mapping[str, Any]) -> Mapping[str, Any]:
    return from_item(request.get("ExpressionAttributeValues", {}))


@cache
def _compiled(condition: str) -> CodeType:
    """Compile a condition as an expression of Python."""

    def translate(token: re.Match[str]) -> str:
        part: Callable[[str], str | None] = token.group
        if path := part("path"):
            return f"(get({path!r}) is {'' if part('test') == 'not_exists' else 'not '}absent)"
        if value := part("value"):
            return f"values[{value!r}]"
        if name := part("name"):
            return f"get({name!r})"
        if word := part("word"):
            return word.lower()
        operator = part("operator") or ""
        return _OPERATORS.get(operator, operator)

    return compile(_TOKEN.sub(translate, condition), condition, "eval")
