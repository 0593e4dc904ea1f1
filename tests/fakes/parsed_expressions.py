"""The expressions of DynamoDB that moto parses, each once a process."""

from collections import deque
from collections.abc import Collection
from functools import cache
from typing import Any

from moto.dynamodb.comparisons import ConditionExpressionParser
from moto.dynamodb.parsing.ast_nodes import (
    DepthFirstTraverser,
    Expression,
    Node,
    UpdateExpressionFunction,
)
from moto.dynamodb.parsing.expressions import UpdateExpressionParser
from moto.dynamodb.parsing.validators import (
    ActionCountValidator,
    OverlappingPathsValidator,
    UpdateHashRangeKeyValidator,
)

# Typed so that mypy lets their parts be replaced.
_conditions: Any = ConditionExpressionParser
_updates: Any = UpdateExpressionParser
_nodes: Any = Node
_traversers: Any = DepthFirstTraverser

#: Those that look at nothing but the text of an expression and its names.
_OF_TEXTS = {ActionCountValidator, OverlappingPathsValidator, UpdateHashRangeKeyValidator}

_tokens = _conditions._lex_condition_expression
_parse_update = _updates.make
#: A validator and a type of nodes -> the type as which the validator knows it, if it does.
_processed: dict[tuple[type, type], type | None] = {}


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
    _updates.make = cache(_parse)
    _nodes.__deepcopy__ = _copy
    _nodes.find_clauses = _clauses_in
    _traversers.traverse = _traverse


@cache
def _tokens_of(condition: str) -> tuple[Any, ...]:
    return tuple(_tokens(ConditionExpressionParser(condition, None, None)))


def _parse(text: str) -> Any:
    parsed = _parse_update(text)
    parsed.found_valid = set()  # which all copies share
    return parsed


def _traverse(traverser: Any, root: Any) -> Any:
    if traverser.__class__ not in _OF_TEXTS:
        return _visit(traverser, root)
    names = getattr(traverser, "expression_attribute_names", None) or {}
    checked = traverser.__class__, frozenset(names.items())
    if checked not in root.found_valid:
        _visit(traverser, root)
        root.found_valid.add(checked)
    return root


def _visit(traverser: Any, root: Any) -> Any:
    processing = traverser._processing_map()
    prepares = "pre_processing_of_child" in vars(traverser.__class__)

    def visit(node: Any, index: int = -1) -> Any:
        for position, child in enumerate(node.children or ()):
            if prepares:
                traverser.pre_processing_of_child(node, position)
            if _is_node(child.__class__):
                visit(child, position)
        kinds = traverser.__class__, node.__class__
        if kinds not in _processed:
            _processed[kinds] = next((one for one in processing if issubclass(kinds[1], one)), None)
        if kind := _processed[kinds]:
            parent, node = node.parent, processing[kind](node)
            node.parent = parent
            if parent:
                parent.children[index] = node
        return node

    return visit(root)


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
