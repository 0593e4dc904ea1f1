"""The expressions of DynamoDB that moto parses, each once a process."""

from collections import deque
from collections.abc import Collection
from functools import cache
from typing import Any

from moto.dynamodb.comparisons import ConditionExpressionParser
from moto.dynamodb.parsing.ast_nodes import (  # type: ignore[attr-defined]  # untyped
    DepthFirstTraverser,
    Expression,
    Node,
    UpdateExpressionFunction,
)
from moto.dynamodb.parsing.expressions import UpdateExpressionParser  # type: ignore[attr-defined]

# Typed so that mypy lets their parts be replaced.
_conditions: Any = ConditionExpressionParser
_updates: Any = UpdateExpressionParser
_nodes: Any = Node
_traversers: Any = DepthFirstTraverser

_tokens = _conditions._lex_condition_expression
#: Whether a validator knows a type of nodes.
_known: dict[tuple[type, type], bool] = {}


def install() -> None:
    """Let moto keep what depends on the text of an expression only.

    By itself it parses an update three times for each call, copies what it parsed with
    copy.deepcopy, asks ten validators at each node of it which types they know, and makes the
    patterns that split a condition anew for each of its words.
    """
    _conditions._lex_condition_expression = lambda parser: deque(
        _tokens_of(parser.condition_expression)
    )
    # The validators change a copy of what was parsed.
    _updates.make = cache(_updates.make)
    _nodes.__deepcopy__ = _copy
    _nodes.find_clauses = _clauses_in
    _traversers.traverse_node_recursively = _traverse


@cache
def _tokens_of(condition: str) -> tuple[Any, ...]:
    return tuple(_tokens(ConditionExpressionParser(condition, None, None)))


def _traverse(traverser: Any, node: Any, index: int = -1) -> Any:
    if not _is_node(node.__class__):
        return node
    parent = node.parent
    for position, child in enumerate(node.children or ()):
        traverser.pre_processing_of_child(node, position)
        _traverse(traverser, child, position)
    kinds = type(traverser), type(node)
    if kinds not in _known:
        _known[kinds] = issubclass(type(node), tuple(traverser._processing_map()))
    if _known[kinds]:
        node = traverser.process(node)
        node.parent = parent
        if parent:
            parent.children[index] = node
    return node


def _clauses_in(node: Any, kinds: Collection[type]) -> list[Any]:
    found: list[Any] = []
    for child in node.children or ():
        if child.__class__ in kinds:
            found.append(child)
        elif _has_clauses(child.__class__):
            found += _clauses_in(child, kinds)
    return found


@cache
def _has_clauses(kind: type) -> bool:
    return issubclass(kind, (Expression, UpdateExpressionFunction))


@cache
def _is_node(kind: type) -> bool:
    return issubclass(kind, Node)


def _copy(node: Any, _: object = None) -> Any:
    """Return a copy of a parsed expression; what is no node in it never changes."""
    copied = object.__new__(type(node))
    vars(copied).update(vars(node))
    if node.children is not None:
        copied.children = [_copy(one) if _is_node(one.__class__) else one for one in node.children]
        for child in copied.children:
            if _is_node(child.__class__):
                child.parent = copied
    return copied
