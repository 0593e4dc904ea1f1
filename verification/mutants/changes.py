"""Changes of durations, limits, order and filters, one at a time."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

from verification.mutants.conditions import changed_conditions

_BOUNDS: Final[dict[type[ast.cmpop], str]] = {
    ast.Lt: " <= ",
    ast.LtE: " < ",
    ast.Gt: " >= ",
    ast.GtE: " > ",
}

type Replacement = tuple[ast.expr | ast.stmt, str]
_NUMBERS: Final = (ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)


@dataclass(frozen=True, slots=True)
class Change:
    """A changed source, the function that differs ("" outside of them), and the constant if any."""

    source: str
    function: str
    constant: str


def changes(source: str, *, conditions: bool = False) -> Iterator[Change]:
    """Yield each change of a module.

    Each `timedelta` of numbers and each number of a `Final` is doubled and halved. A statement that
    calls something of `self` moves behind the next one that does. Each filter of a comprehension
    lets everything pass. Each term of a DynamoDB condition changes as `conditions.py` says. With
    `conditions` bounds count or not, `and` is `or`, and what is true is false.
    """
    octets = source.encode()
    starts = [0, *accumulate(map(len, octets.splitlines(keepends=True)))]
    for node, function, constant in places(ast.parse(source)):
        found = [*_doubled(source, node), *_moved(source, node), *_unfiltered(node)]
        if isinstance(node, ast.JoinedStr | ast.Constant):
            text = ast.get_source_segment(source, node) or ""
            found += [[(node, other)] for other in changed_conditions(text)]
        for replacements in (*found, *(_conditions(source, node) if conditions else ())):
            changed = octets
            for old, new in reversed(replacements):
                start = starts[old.lineno - 1] + old.col_offset
                end = starts[(old.end_lineno or 0) - 1] + (old.end_col_offset or 0)
                changed = changed[:start] + new.encode() + changed[end:]
            yield Change(changed.decode(), function, constant)


def places(
    node: ast.AST, function: str = "", constant: str = "", scope: str = ""
) -> Iterator[tuple[ast.AST, str, str]]:
    """Yield each node with the qualified name of its function, and the constant that it defines."""
    for child in ast.iter_child_nodes(node):
        within, name, inner = function, constant, scope
        match child:
            case ast.ClassDef():
                inner = f"{scope}{child.name}."
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                within, inner = f"{scope}{child.name}", f"{scope}{child.name}.<locals>."
            case ast.AnnAssign(target=target) | ast.Assign(targets=[target]) if not function:
                name = ast.unparse(target)
        yield child, within, name
        if not isinstance(child, ast.JoinedStr):
            yield from places(child, within, name, inner)


def _doubled(source: str, node: ast.AST) -> Iterator[list[Replacement]]:
    for number in _numbers(node):
        text = ast.get_source_segment(source, number)
        half = "//" if isinstance(_value(number), int) else "/"
        yield [(number, f"({text} * 2)")]
        yield [(number, f"({text} {half} 2)")]


def _conditions(source: str, node: ast.AST) -> Iterator[list[Replacement]]:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _BOUNDS:
            texts = (ast.get_source_segment(source, one) for one in (left, right))
            yield [(node, f"({_BOUNDS[type(op)].join(map(str, texts))})")]
        case ast.BoolOp(op=op, values=values):
            other = " or " if isinstance(op, ast.And) else " and "
            texts = (ast.get_source_segment(source, one) for one in values)
            yield [(node, f"({other.join(f'({text})' for text in texts)})")]
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            yield [(test, f"not ({ast.get_source_segment(source, test)})")]
        case _:
            pass


def _unfiltered(node: ast.AST) -> Iterator[list[Replacement]]:
    for generator in getattr(node, "generators", ()):
        for test in generator.ifs:
            yield [(test, "True")]


def _numbers(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what a node has as a duration or as the number of a `Final`."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "timedelta":
        amounts = [*node.args, *(keyword.value for keyword in node.keywords)]
        if amounts and all(map(_value, amounts)):
            yield node
    if isinstance(node, ast.AnnAssign) and "Final" in ast.unparse(node.annotation) and node.value:
        yield from _largest_numbers(node.value)


def _largest_numbers(node: ast.expr) -> Iterator[ast.expr]:
    if _value(node):
        yield node
    elif not isinstance(node, ast.Call):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from _largest_numbers(child)


def _value(node: ast.expr) -> float | None:
    """Return the number that an expression of numbers alone stands for, else None."""
    for part in ast.walk(node):
        is_number = isinstance(part, ast.Constant) and type(part.value) in {int, float}
        if not is_number and not isinstance(part, _NUMBERS):
            return None
    value: float = eval(ast.unparse(node), {})  # noqa: S307  numbers alone
    return value


def _moved(source: str, node: ast.AST) -> Iterator[list[Replacement]]:
    """Move each statement that calls something of `self` behind the next one that does."""
    for field in ("body", "orelse", "finalbody"):
        body = getattr(node, field, ())
        if not isinstance(body, list):  # of a lambda, or of an `if` in an expression
            continue
        calling = [at for at, one in enumerate(body) if isinstance(one, ast.stmt) and _calls(one)]
        for at, after in pairwise(calling):
            first, *passed = body[at : after + 1]
            used = {name for one in passed for name in _names(one, ast.Load)}
            if used & _names(first, ast.Store) or isinstance(passed[-1], ast.Return | ast.Raise):
                continue
            texts = [ast.get_source_segment(source, one) or "" for one in (*passed, first)]
            yield [*zip([first, *passed], texts, strict=True)]


def _calls(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False
    calls = (one.func for one in ast.walk(statement) if isinstance(one, ast.Call))
    return any(ast.unparse(call).startswith("self.") for call in calls)


def _names(node: ast.AST, context: type[ast.expr_context]) -> set[str]:
    names = (one for one in ast.walk(node) if isinstance(one, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, context)}
