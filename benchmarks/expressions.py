"""The condition and update expressions of DynamoDB, as far as the service uses them."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from types import CodeType
from typing import Any, Final

from pillarbox.adapters.dynamodb.table import from_attribute, from_item, to_attribute

_TOKEN: Final = re.compile(
    r"attribute_(?P<test>not_exists|exists)\((?P<path>[#\w.]+)\)"
    r"|size\((?P<sized>\w+)\)|(?P<value>:\w+)|(?P<word>AND|OR|NOT)\b|(?P<name>[#\w.]+)|(?P<operator><>|<=|>=|=|<|>)"
)
_CLAUSE: Final = re.compile(r"\b(SET|REMOVE|ADD|DELETE)\b")
_IF_NOT_EXISTS: Final = re.compile(r"if_not_exists\((\S+), (:\w+)\)")
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
    stored = item or {}
    names = request.get("ExpressionAttributeNames", {})

    def get(path: str) -> object:
        name, *members = (names.get(part, part) for part in path.split("."))
        found: Any = from_attribute(stored[name]) if name in stored else _ABSENT
        for member in members:
            found = found.get(member, _ABSENT) if found is not _ABSENT else found
        return found

    scope = {"get": get, "absent": _ABSENT, "values": _values(request)}
    return bool(eval(_compiled(request["ConditionExpression"]), scope))  # noqa: S307  our own


def updated(item: Item, request: Mapping[str, Any]) -> Item:
    """Return an item after the update expression of a request."""
    names, values = request.get("ExpressionAttributeNames", {}), _values(request)
    new = dict(item)
    expression = _IF_NOT_EXISTS.sub(r"\1?\2", request["UpdateExpression"])
    _, *parts = _CLAUSE.split(expression)
    for clause, terms in zip(parts[::2], parts[1::2], strict=True):
        for term in terms.split(","):
            path, *operands = term.replace("=", " ").replace("+", " ").split()
            name, *member = (names.get(part, part) for part in path.split("."))
            if member:  # of a map
                one = {member[0]: values[operands[0]]} if clause == "SET" else {}
                map_ = from_attribute(item[name])
                others = {key: value for key, value in map_.items() if key != member[0]}
                new[name] = to_attribute(others | one)
            elif clause == "REMOVE":
                new.pop(name, None)
            elif clause in {"ADD", "DELETE"}:
                old = from_attribute(item[name]) if name in item else None
                changed = _changed(clause, old, values[operands[0]])
                if changed == set():
                    new.pop(name, None)
                else:
                    new[name] = to_attribute(changed)
            else:
                first, *added = (_operand(one, item, names, values) for one in operands)
                new[name] = to_attribute(first + added[0] if added else first)
    return new


def _changed(clause: str, old: Any, value: Any) -> Any:  # noqa: ANN401  a number or a set
    if isinstance(value, set):
        return (old or set()) | value if clause == "ADD" else (old or set()) - value
    return (old or 0) + value


def _operand(operand: str, item: Item, names: Mapping[str, str], values: Mapping[str, Any]) -> Any:  # noqa: ANN401  any value
    """Return a value, an attribute, or `name?:value`: the value if there is no attribute."""
    if operand.startswith(":"):
        return values[operand]
    name, _, default = operand.partition("?")
    name = names.get(name, name)
    return values[default] if default and name not in item else from_attribute(item[name])


def _values(request: Mapping[str, Any]) -> Mapping[str, Any]:
    return from_item(request.get("ExpressionAttributeValues", {}))


@cache
def _compiled(condition: str) -> CodeType:
    """Compile a condition as an expression of Python."""

    def translate(token: re.Match[str]) -> str:
        part: Callable[[str], str | None] = token.group
        if path := part("path"):
            return f"(get({path!r}) is {'' if part('test') == 'not_exists' else 'not '}absent)"
        if sized := part("sized"):
            return f"len(get({sized!r}) or ())"
        if value := part("value"):
            return f"values[{value!r}]"
        if name := part("name"):
            return f"get({name!r})"
        if word := part("word"):
            return word.lower()
        operator = part("operator") or ""
        return _OPERATORS.get(operator, operator)

    return compile(_TOKEN.sub(translate, condition), condition, "eval")
