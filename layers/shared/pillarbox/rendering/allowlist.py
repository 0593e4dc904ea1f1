"""What a saved template may contain, held against Jinja2's own syntax tree.

An account writes these templates and a worker that serves all accounts runs
them, so everything is refused that is not known to be harmless: what passes
reads JSON by paths, runs in time bounded by its length and by `MAX_ROWS`, and
reaches nothing of Python.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Final, NoReturn

from jinja2 import Template, TemplateSyntaxError, Undefined, nodes

from pillarbox.domain.errors import FieldFault, Json, ValidationFailed
from pillarbox.domain.template import subject_references
from pillarbox.rendering.sandbox import MailEnvironment
from pillarbox.rendering.variables import EACH, TemplateVariables

#: Characters of a body. Gmail shows the first 102 KB of a mail.
MAX_LENGTH: Final = 512 * 1024
#: Tags of a body. Together with `MAX_ROWS` this bounds the work of a render.
MAX_TAGS: Final = 500
#: Entries that a `for` takes.
MAX_ROWS: Final = 1000
#: `if` within `if`, steps of a path, filters in a row: Python compiles what Jinja2
#: makes of them, and ends at 100 levels of indentation.
MAX_DEPTH: Final = 16
#: Characters of a text in a template, such as a default.
MAX_CONSTANT: Final = 500

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
#: Names that Jinja2 gives a meaning of its own.
_RESERVED: Final = frozenset({"caller", "kwargs", "loop", "self", "super", "varargs"})
_TEXT_FILTERS: Final = frozenset({"capitalize", "lower", "trim", "upper"})
#: Put into the tree around what a `for` goes over; cannot be written in a template.
_ROWS: Final = "<rows>"


def check(subject: str, html: str) -> TemplateVariables:
    """See `rendering.saved.check_template`."""
    references = subject_references(subject)
    # Whatever opens and is no plain reference is something that subjects do not take.
    if len(references) != subject.count("{{") or "{%" in subject or "{#" in subject:
        message = "A subject takes plain references such as {{ name }} only."
        raise ValidationFailed(FieldFault("subject", message, "not_allowed"))
    scan = _Scan()
    for reference in references:
        scan.use(tuple(reference.split(".")), required=True)
    scan.body(_parse(html).body, depth=0)
    return TemplateVariables(tuple(scan.names), tuple(scan.required))


def compile_saved(html: str) -> Template:
    """Check a body and compile it.

    Raises:
        ValidationFailed: on `html`.
    """
    tree = _parse(html)
    _Scan().body(tree.body, depth=0)
    for loop in tree.find_all(nodes.For):
        loop.iter = nodes.Filter(loop.iter, _ROWS, [], [], None, None, lineno=loop.lineno)
    return _environment().from_string(tree)


class _Scan:
    """One pass over a template's tree: refuses what is not allowed, notes what is used."""

    def __init__(self) -> None:
        #: Dictionaries for their order.
        self.names: dict[str, None] = {}
        self.required: dict[str, None] = {}
        #: Within a `for`: its variable, and the path of the list's entries.
        self._entry: tuple[str, tuple[str, ...]] | None = None

    def use(self, path: tuple[str, ...], *, required: bool) -> None:
        self.names[path[0].removesuffix(EACH)] = None
        if required:
            self.required[".".join(path)] = None

    def body(self, statements: Sequence[nodes.Node], depth: int) -> None:
        for statement in statements:
            if depth > MAX_DEPTH:
                _refuse(statement, f"Tags go at most {MAX_DEPTH} deep.")
            match statement:
                case nodes.Output():
                    for piece in statement.nodes:
                        self._output(piece)
                case nodes.If():
                    self._condition(statement.test, depth)
                    for branch in (statement.body, statement.elif_, statement.else_):
                        self.body(branch, depth + 1)
                case nodes.For():
                    self._loop(statement, depth)
                case _:
                    _refuse(statement, "Only {{ }}, if and for can be used.")

    def _output(self, node: nodes.Node) -> None:
        if isinstance(node, nodes.TemplateData):
            return
        filters = 0
        while isinstance(node, nodes.Filter) and node.name in _TEXT_FILTERS and node.node:
            filters += 1
            if filters > MAX_DEPTH:
                _refuse(node, f"At most {MAX_DEPTH} filters can follow each other.")
            if node.args or node.kwargs or node.dyn_args or node.dyn_kwargs:
                _refuse(node, f"The filter {node.name} takes no argument.")
            node = node.node
        self._value(node)

    def _value(self, node: nodes.Node) -> None:
        """A path, with or without a default."""
        required = True
        if isinstance(node, nodes.Filter) and node.name == "default" and node.node:
            if len(node.args) != 1 or node.kwargs or node.dyn_args or node.dyn_kwargs:
                _refuse(node, "The filter default takes one argument.")
            _constant(node.args[0])
            required = False
            node = node.node
        self.use(self._path(node), required=required)

    def _path(self, node: nodes.Node) -> tuple[str, ...]:
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
                _refuse(node, f"{step} is no name that can be used.")
        steps.reverse()
        if self._entry and steps[0] == self._entry[0]:
            return (*self._entry[1], *steps[1:])
        return tuple(steps)

    def _condition(self, node: nodes.Node, depth: int) -> None:
        if depth > MAX_DEPTH:
            _refuse(node, f"Conditions go at most {MAX_DEPTH} deep.")
        match node:
            case nodes.And() | nodes.Or():
                self._condition(node.left, depth + 1)
                self._condition(node.right, depth + 1)
            case nodes.Not():
                self._condition(node.node, depth + 1)
            case nodes.Compare(ops=[nodes.Operand(op="eq" | "ne") as operand]):
                self._value(node.expr)
                _constant(operand.expr)
            case nodes.Compare():
                _refuse(node, "Values can be compared by == and != only.")
            case _:
                self._value(node)

    def _loop(self, loop: nodes.For, depth: int) -> None:
        if self._entry:
            _refuse(loop, "A for within a for cannot be used.")
        if loop.test or loop.recursive or not isinstance(loop.target, nodes.Name):
            _refuse(loop, "Only {% for entry in list %} can be used.")
        entry = self._path(loop.target)
        self._value(loop.iter)
        source = loop.iter.node if isinstance(loop.iter, nodes.Filter) else loop.iter
        assert source is not None  # noqa: S101  _value has refused a filter without a path
        *parents, last = self._path(source)
        self._entry = (entry[0], (*parents, last + EACH))
        self.body(loop.body, depth + 1)
        self._entry = None
        self.body(loop.else_, depth + 1)


def _parse(html: str) -> nodes.Template:
    if len(html) > MAX_LENGTH or html.count("{{") + html.count("{%") > MAX_TAGS:
        message = f"At most {MAX_LENGTH} characters and {MAX_TAGS} tags can be used."
        raise ValidationFailed(FieldFault("html", message, "too_large"))
    try:
        return _environment().parse(html)
    except TemplateSyntaxError as wrong:
        message = f"Line {wrong.lineno}: {wrong.message}"
        raise ValidationFailed(FieldFault("html", message, "template_syntax")) from wrong
    # A number of thousands of digits; brackets by the thousand.
    except (ValueError, RecursionError) as wrong:
        message = "A tag is longer than can be read."
        raise ValidationFailed(FieldFault("html", message, "template_syntax")) from wrong


def _constant(node: nodes.Node) -> None:
    if isinstance(node, nodes.Const) and len(str(node.value)) <= MAX_CONSTANT:
        return
    if isinstance(node, nodes.List) and not node.items:
        return
    _refuse(node, f"Only a text of up to {MAX_CONSTANT} characters, a number, true, false or [].")


def _refuse(node: nodes.Node, message: str) -> NoReturn:
    fault = FieldFault("html", f"Line {node.lineno}: {message}", "not_allowed")
    raise ValidationFailed(fault)


@cache
def _environment() -> MailEnvironment:
    environment = MailEnvironment()
    environment.filters.update(
        {
            "capitalize": lambda value: str(value).capitalize(),
            "default": _default,
            "lower": lambda value: str(value).lower(),
            "trim": lambda value: str(value).strip(),
            "upper": lambda value: str(value).upper(),
            _ROWS: _rows,
        }
    )
    return environment


def _default(value: Json | Undefined, otherwise: Json) -> Json:
    return otherwise if value is None or isinstance(value, Undefined) else value


def _rows(value: Json | Undefined) -> list[Json] | Undefined:
    """What a `for` goes over: a list of bounded length, or a lacking one to complain of."""
    if isinstance(value, Undefined) or (isinstance(value, list) and len(value) <= MAX_ROWS):
        return value
    message = f"A list of at most {MAX_ROWS} entries is needed where the template repeats."
    raise ValidationFailed(FieldFault("variables", message, "invalid_type"))
