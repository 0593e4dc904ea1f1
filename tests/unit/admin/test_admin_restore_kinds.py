"""A restore knows every kind of record that the tables have."""

import ast
import inspect
import re

from admin.use_cases.restore import LEFT_OUT, REPLACED, RESTORED
from pillarbox.adapters.dynamodb import keys
from tests.loops import for_each


def starts_of(node: ast.expr) -> list[str]:
    """Return the texts with which an expression of a partition key may begin."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=[first, *_]):
            return starts_of(first)
        case ast.IfExp(body=body, orelse=other):
            return starts_of(body) + starts_of(other)
        case ast.Name() | ast.FormattedValue():  # a key that another call of the module spelled
            return []
    raise NotImplementedError(ast.dump(node))


#: The kinds in the keys that the module spells.
KINDS = {
    start.partition("#")[0]
    for call in ast.walk(ast.parse(inspect.getsource(keys)))
    if isinstance(call, ast.Call)
    and isinstance(call.func, ast.Name)
    and call.func.id in {"_key", "_alone", "_of_list", "_common", "_of_endpoint"}
    for start in starts_of(call.args[0])
} | {name for kind in keys.TIMERS for name in (kind, f"{kind}S")}


@for_each("kind", sorted(KINDS))
def test_a_kind_is_restored_or_left_out(kind: str) -> None:
    assert (kind in RESTORED) != (kind in LEFT_OUT)


def test_no_other_kinds_are_known() -> None:
    documented = {
        match
        for row in re.findall(r"^\|[^|]+\| ([^|]+) \|", keys.__doc__ or "", re.MULTILINE)
        for match in re.findall(r"^[A-Z]+", row)
    }
    assert {*RESTORED, *LEFT_OUT} == KINDS == documented


def test_a_reason_is_short() -> None:
    reasons = [one.reason for one in LEFT_OUT.values()]
    reasons += [one.not_replaced for one in RESTORED.values() if one.not_replaced]
    assert all(0 < len(reason) <= 60 for reason in reasons)


def test_what_can_be_replaced_is_named() -> None:
    """These kinds belong to one account, and an operator can name each of their rows."""
    assert {"accounts", "domains", "messages", "suppressions", "webhookEndpoints"} == REPLACED
