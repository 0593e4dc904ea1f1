"""Check saved templates against a list of what they may contain.

Accounts write these templates, and one worker renders them for all accounts. So
the check refuses everything that is not known to be harmless. It works on
Jinja2's syntax tree. An allowed template only reads JSON values by paths, its
running time is bounded by its length and by `MAX_ROWS`, and it cannot reach any
Python object.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Final, NoReturn

from jinja2 import Template, TemplateSyntaxError, Undefined, nodes

from pillarbox.domain.errors import FieldError, Json, ValidationFailed
from pillarbox.domain.template import subject_references
from pillarbox.rendering.sandbox import MailEnvironment
from pillarbox.rendering.saved import LIST_STEP, TemplateVariables

#: Characters of a body. Gmail shows only the first 102 KB of an email.
MAX_LENGTH: Final = 512 * 1024
#: Tags of a body. Together with `MAX_ROWS` this limits the time of rendering.
MAX_TAGS: Final = 500
#: Entries of a list that a `for` repeats over.
MAX_ROWS: Final = 1000
#: Levels of nested `if`, steps of a path, and consecutive filters. Jinja2 turns them into
#: Python code, and Python allows at most 100 levels of indentation.
MAX_DEPTH: Final = 16
#: Characters of a text in a template, such as a default.
MAX_CONSTANT: Final = 500

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
#: Names that have a meaning in Jinja2.
_RESERVED: Final = frozenset({"caller", "kwargs", "loop", "self", "super", "varargs"})
_TEXT_FILTERS: Final = frozenset({"capitalize", "lower", "trim", "upper"})
#: A filter that is put around the list of each `for`. A template cannot contain this name.
_ROWS: Final = "<rows>"


def check(subject: str, html: str) -> TemplateVariables:
    """Check a template; see `rendering.saved.check_template`."""
    references = subject_references(subject)
    # Refuse a subject that has any other tag than plain references.
    if len(references) != subject.count("{{") or "{%" in subject or "{#" in subject:
        message = "A subject can contain only plain references such as {{ name }}."
        raise ValidationFailed(FieldError("subject", message, "not_allowed"))
    checker = _Checker()
    for reference in references:
        checker.add_reference(tuple(reference.split(".")), required=True)
    checker.check_body(_parse(html).body, depth=0)
    return TemplateVariables(tuple(checker.names), tuple(checker.required))


def compile_saved(html: str) -> Template:
    """Check a body and compile it.

    Raises:
        ValidationFailed: on `html`.
    """
    tree = _parse(html)
    _Checker().check_body(tree.body, depth=0)
    for loop in tree.find_all(nodes.For):
        loop.iter = nodes.Filter(loop.iter, _ROWS, [], [], None, None, lineno=loop.lineno)
    return _environment().from_string(tree)


class _Checker:
    """Walks a template's tree, refuses what is not allowed, and collects the variables."""

    def __init__(self) -> None:
        #: Dictionaries, because they keep the order.
        self.names: dict[str, None] = {}
        self.required: dict[str, None] = {}
        #: Within a `for`: its variable, and the path of the entries of its list.
        self._entry: tuple[str, tuple[str, ...]] | None = None

    def add_reference(self, path: tuple[str, ...], *, required: bool) -> None:
        self.names[path[0].removesuffix(LIST_STEP)] = None
        if required:
            self.required[".".join(path)] = None

    def check_body(self, statements: Sequence[nodes.Node], depth: int) -> None:
        for statement in statements:
            if depth > MAX_DEPTH:
                _refuse(statement, f"Tags can be nested at most {MAX_DEPTH} levels deep.")
            match statement:
                case nodes.Output():
                    for piece in statement.nodes:
                        self._check_output(piece)
                case nodes.If():
                    self._check_condition(statement.test, depth)
                    for branch in (statement.body, statement.elif_, statement.else_):
                        self.check_body(branch, depth + 1)
                case nodes.For():
                    self._check_loop(statement, depth)
                case _:
                    _refuse(statement, "Only {{ }}, if and for can be used.")

    def _check_output(self, node: nodes.Node) -> None:
        if isinstance(node, nodes.TemplateData):
            return
        filters = 0
        while isinstance(node, nodes.Filter) and node.name in _TEXT_FILTERS and node.node:
            filters += 1
            if filters > MAX_DEPTH:
                _refuse(node, f"At most {MAX_DEPTH} filters can follow one another.")
            if node.args or node.kwargs or node.dyn_args or node.dyn_kwargs:
                _refuse(node, f"The filter {node.name} takes no argument.")
            node = node.node
        self._check_value(node)

    def _check_value(self, node: nodes.Node) -> None:
        """Check a path with or without a default."""
        required = True
        if isinstance(node, nodes.Filter) and node.name == "default" and node.node:
            if len(node.args) != 1 or node.kwargs or node.dyn_args or node.dyn_kwargs:
                _refuse(node, "The filter default takes one argument.")
            _check_constant(node.args[0])
            required = False
            node = node.node
        self.add_reference(self._read_path(node), required=required)

    def _read_path(self, node: nodes.Node) -> tuple[str, ...]:
        steps: list[str] = []
        while isinstance(node, nodes.Getattr) and len(steps) < MAX_DEPTH:
            steps.append(node.attr)
            node = node.node
        if not isinstance(node, nodes.Name):
            if isinstance(node, nodes.Filter):
                _refuse(node, f"The filter {node.name} cannot be used here.")
            _refuse(node, "Only paths such as {{ order.total }} can be used.")
        steps.append(node.name)
        for step in steps:
            if not _NAME.fullmatch(step) or step in _RESERVED:
                _refuse(node, f"{step} cannot be used as a name.")
        steps.reverse()
        if self._entry and steps[0] == self._entry[0]:
            return (*self._entry[1], *steps[1:])
        return tuple(steps)

    def _check_condition(self, node: nodes.Node, depth: int) -> None:
        if depth > MAX_DEPTH:
            _refuse(node, f"Conditions can be nested at most {MAX_DEPTH} levels deep.")
        match node:
            case nodes.And() | nodes.Or():
                self._check_condition(node.left, depth + 1)
                self._check_condition(node.right, depth + 1)
            case nodes.Not():
                self._check_condition(node.node, depth + 1)
            case nodes.Compare(ops=[nodes.Operand(op="eq" | "ne") as operand]):
                self._check_value(node.expr)
                _check_constant(operand.expr)
            case nodes.Compare():
                _refuse(node, "Values can be compared only with == and !=.")
            case _:
                self._check_value(node)

    def _check_loop(self, loop: nodes.For, depth: int) -> None:
        if self._entry:
            _refuse(loop, "A for cannot be nested in another for.")
        if loop.test or loop.recursive or not isinstance(loop.target, nodes.Name):
            _refuse(loop, "Only {% for entry in list %} can be used.")
        entry = self._read_path(loop.target)
        self._check_value(loop.iter)
        source = loop.iter.node if isinstance(loop.iter, nodes.Filter) else loop.iter
        assert source is not None  # noqa: S101  _check_value refuses a filter without a path
        *parents, last = self._read_path(source)
        self._entry = (entry[0], (*parents, last + LIST_STEP))
        self.check_body(loop.body, depth + 1)
        self._entry = None
        self.check_body(loop.else_, depth + 1)


def _parse(html: str) -> nodes.Template:
    if len(html) > MAX_LENGTH or html.count("{{") + html.count("{%") > MAX_TAGS:
        message = f"A template can have at most {MAX_LENGTH} characters and {MAX_TAGS} tags."
        raise ValidationFailed(FieldError("html", message, "too_large"))
    try:
        return _environment().parse(html)
    except TemplateSyntaxError as error:
        message = f"Line {error.lineno}: {error.message}"
        raise ValidationFailed(FieldError("html", message, "template_syntax")) from error
    # A number with thousands of digits, or thousands of nested brackets.
    except (ValueError, RecursionError) as error:
        message = "A tag is too long."
        raise ValidationFailed(FieldError("html", message, "template_syntax")) from error


def _check_constant(node: nodes.Node) -> None:
    if isinstance(node, nodes.Const) and len(str(node.value)) <= MAX_CONSTANT:
        return
    if isinstance(node, nodes.List) and not node.items:
        return
    message = (
        f"Only a text of up to {MAX_CONSTANT} characters, a number, true, false or [] is allowed."
    )
    _refuse(node, message)


def _refuse(node: nodes.Node, message: str) -> NoReturn:
    error = FieldError("html", f"Line {node.lineno}: {message}", "not_allowed")
    raise ValidationFailed(error)


@cache
def _environment() -> MailEnvironment:
    environment = MailEnvironment()
    environment.filters.update(
        {
            "capitalize": lambda value: str(value).capitalize(),
            "default": _value_or_default,
            "lower": lambda value: str(value).lower(),
            "trim": lambda value: str(value).strip(),
            "upper": lambda value: str(value).upper(),
            _ROWS: _check_rows,
        }
    )
    return environment


def _value_or_default(value: Json | Undefined, default: Json) -> Json:
    return default if value is None or isinstance(value, Undefined) else value


def _check_rows(value: Json | Undefined) -> list[Json] | Undefined:
    """Return the list that a `for` repeats over, or an undefined value, which Jinja2 reports."""
    if isinstance(value, Undefined) or (isinstance(value, list) and len(value) <= MAX_ROWS):
        return value
    message = f"A for in the template needs a list of at most {MAX_ROWS} entries."
    raise ValidationFailed(FieldError("variables", message, "invalid_type"))
