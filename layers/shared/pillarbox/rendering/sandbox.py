"""The Jinja2 sandbox for templates: what they may use, and how large an email may be.

Accounts write these templates, and one worker renders them for all accounts. So
the check refuses everything that is not known to be harmless. It works on
Jinja2's syntax tree. An allowed template only reads JSON values by paths, and it
cannot reach any Python object. Its loops and filters burn fuel.

A starter is stored with its layout and inlined CSS (see `assemble_starters.py`). It
is compiled once per process, so rendering an email only inserts the values.
"""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache, wraps
from typing import Any, Final, NoReturn, override

from jinja2 import (
    StrictUndefined,
    Template,
    TemplateSyntaxError,
    Undefined,
    UndefinedError,
    nodes,
    pass_context,
)
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from pillarbox.domain.errors import FieldError, Json, ServiceError, ValidationFailed
from pillarbox.domain.templates.template import subject_references
from pillarbox.rendering.palette import palette
from pillarbox.rendering.saved import (
    LIST_STEP,
    MAX_CONSTANT,
    MAX_FUEL,
    NODE,
    Fuel,
    RequestFuel,
    TemplateFault,
    TemplateReference,
    TemplateVariables,
)
from pillarbox.rendering.starters import STARTERS, get_starter
from pillarbox.rendering.values import (
    contact_url,
    currency_code,
    days_ahead,
    duration,
    format_date,
    grouped,
)

_CANNOT: Final = "This cannot be rendered. The unusual tags are the likely cause: leave them out."
_logger: Final = logging.getLogger(__name__)


def as_source_errors[**P, R](work: Callable[P, R]) -> Callable[P, R]:
    """Let work on a source raise nothing but errors of the API.

    Every unexpected one becomes a `ValidationFailed` on `html`, and the log has its type. Those of
    the machine, such as a process that does not start, stay as they are.
    """

    @wraps(work)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return work(*args, **kwargs)
        except (ServiceError, OSError, ImportError):
            raise
        except Exception as error:
            _logger.warning("a source cannot be rendered: %s", type(error).__name__)
            raise ValidationFailed(FieldError("html", _CANNOT, "rendering_failed")) from error

    return run


#: The size of an email's HTML in UTF-8. Mail programs cut off much shorter ones.
MAX_BYTES: Final = 1024 * 1024


class RenderTooLarge(ValidationFailed):
    """The template and its values produce an email of more than `MAX_BYTES`."""

    def __init__(self) -> None:
        message = f"make the email larger than {MAX_BYTES} bytes"
        super().__init__(FieldError("variables", message, "too_large"))


class MailEnvironment(ImmutableSandboxedEnvironment):
    """A Jinja2 environment for JSON values only.

    A path reads members of objects by key, and never attributes of Python objects.
    So `{{ x.items }}` is the member "items" or undefined. There are no globals and no
    tests, and only the filters of the caller.
    """

    def __init__(
        self,
        filters: Mapping[str, Callable[..., object]],
        *,
        block_start: str = "{%",
        block_end: str = "%}",
    ) -> None:
        super().__init__(
            block_start_string=block_start,
            block_end_string=block_end,
            autoescape=True,
            undefined=StrictUndefined,
            finalize=check_output,
            # Templates have nothing to compute in advance, and the search for it takes most
            # of the time of compiling; for long paths that is quadratic.
            optimized=False,
        )
        self.globals.clear()
        self.filters = {**filters}
        self.tests.clear()
        # The first template would compile its patterns, in the first request of a function.
        _ = self.lexer

    @override
    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, dict) and attribute in obj:
            return obj[attribute]
        return self.undefined(obj=obj, name=attribute)

    @override
    def getitem(self, obj: Any, argument: str | Any) -> Any:
        return self.getattr(obj, argument)


def render_bounded(template: Template, values: Mapping[str, object]) -> str:
    """Render a template piece by piece, and stop as soon as the result is too large."""
    room = MAX_BYTES
    pieces: list[str] = []
    for piece in template.generate(values):
        room -= len(piece) if piece.isascii() else len(piece.encode())
        if room < 0:
            raise RenderTooLarge
        pieces.append(piece)
    return "".join(pieces)


def check_output(value: Json | Undefined) -> Json | Undefined:
    """Return the value that an email shows. Refuse null, lists and objects."""
    if isinstance(value, str | Undefined):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict):
        message = "the template cannot show a list or an object; use one of its members"
        raise ValidationFailed(FieldError("variables", message, "invalid_type"))
    if value is None:
        message = "the template needs a value that is null"
        raise ValidationFailed(FieldError("variables", message, "missing_variable"))
    return value


#: Characters of a body. Gmail shows only the first 102 KB of an email.
MAX_LENGTH: Final = 512 * 1024
MAX_TAGS: Final = 500
#: Tokens of a body: names, signs, white space in tags, comments. They take the time of compiling.
MAX_TOKENS: Final = 15_000
#: Entries of a list that a `for` repeats over.
MAX_ROWS: Final = 1000
#: Levels of nested `if`, steps of a path, and consecutive filters. Jinja2 turns them into
#: Python code, and Python allows at most 100 levels of indentation.
MAX_DEPTH: Final = 16
#: How many characters a template's author may expect a filter to read in each row. Longer
#: values burn more fuel, and their email may be refused.
TYPICAL_LENGTH: Final = 100

#: Every smaller whole number is exact in JSON too (RFC 8259 section 6).
_NUMBERS: Final = 2**53
_CONTROLS: Final = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_OPEN_TAG: Final = re.compile(r"\{[{%][^}]*+")
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
#: Names that have a meaning in Jinja2.
_RESERVED: Final = frozenset({"caller", "kwargs", "loop", "self", "super", "varargs"})
_TEXT_FILTERS: Final = frozenset({"capitalize", "lower", "trim", "upper"})
#: A filter that is put around the list of each `for`, and the value that has the fuel. A
#: template cannot contain these names.
_ROWS: Final = "<rows>"
FUEL: Final = "<fuel>"


@dataclass(frozen=True, slots=True)
class SavedProgram:
    """A compiled body. `fuel` is what its parts outside the loops burn."""

    template: Template
    fuel: int
    tokens: int


@as_source_errors
def check(subject: str, html: str, text: str | None = None) -> TemplateVariables:
    """Check a template; see `rendering.template_check`."""
    checker = _Checker()
    for field, value in (("subject", subject), ("text", text or "")):
        for reference in _plain_references(field, value):
            checker.add_reference(tuple(reference.split(".")), line=None, required=True)
    _check_tokens(html)
    tree = _parse(html)
    checker.check_body(tree.body, depth=0)
    _check_loops(tree)
    return TemplateVariables(
        tuple(checker.names), tuple(checker.required), tuple(checker.references.values())
    )


def _plain_references(field: str, text: str) -> tuple[str, ...]:
    """Return the references of a text that has no other tags."""
    references = subject_references(text)
    if len(references) != text.count("{{") or "{%" in text or "{#" in text:
        what = "A subject" if field == "subject" else "A text part"
        message = f"{what} can contain only plain references such as {{{{ name }}}}."
        raise ValidationFailed(FieldError(field, message, "not_allowed"))
    return references


def compile_saved(html: str) -> SavedProgram:
    """Check a body and compile it. Its tokens and fuel were checked when it was saved."""
    tree = _parse(html)
    _Checker().check_body(tree.body, depth=0)
    size = _size(tree.body)
    for loop in tree.find_all(nodes.For):
        size -= _size(loop.body)
        cost = nodes.Const(_row_fuel(loop))
        loop.iter = nodes.Filter(loop.iter, _ROWS, [cost], [], None, None, lineno=loop.lineno)
    tokens = sum(1 for _ in _SAVED.lex(html))
    return SavedProgram(_SAVED.from_string(tree), size * NODE, tokens)


class _Checker:
    """Walks a template's tree, refuses what is not allowed, and collects the variables."""

    def __init__(self) -> None:
        #: Dictionaries, because they keep the order.
        self.names: dict[str, None] = {}
        self.required: dict[str, None] = {}
        self.references: dict[str, TemplateReference] = {}
        #: Within a `for`: its variable, and the path of the entries of its list.
        self._entry: tuple[str, tuple[str, ...]] | None = None

    def add_reference(
        self,
        path: tuple[str, ...],
        *,
        line: int | None,
        required: bool,
        default: Json = None,
        is_list: bool = False,
    ) -> None:
        self.names[path[0].removesuffix(LIST_STEP)] = None
        text = ".".join(path)
        if required:
            self.required[text] = None
        known = self.references.get(text)
        self.references[text] = TemplateReference(
            path=text,
            line=known.line if known and known.line else line,
            required=required or (known is not None and known.required),
            default=known.default if known and known.default is not None else default,
            is_list=is_list or (known is not None and known.is_list),
        )

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
        if isinstance(node, nodes.Filter) and _is_nothing(node.args[0]):
            node.args[0] = nodes.Const("")

    def _check_value(self, node: nodes.Node, *, is_list: bool = False) -> None:
        """Check a path with or without a default."""
        required, default, line = True, None, node.lineno
        if isinstance(node, nodes.Filter) and node.name == "default" and node.node:
            if len(node.args) != 1 or node.kwargs or node.dyn_args or node.dyn_kwargs:
                _refuse(node, "The filter default takes one argument.")
            _check_constant(node.args[0])
            required = False
            default = node.args[0].value if isinstance(node.args[0], nodes.Const) else None
            node = node.node
        self.add_reference(
            self._read_path(node), line=line, required=required, default=default, is_list=is_list
        )

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
        self._check_value(loop.iter, is_list=True)
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
        return _SAVED.parse(html)
    except TemplateSyntaxError as error:
        message = error.message or "The syntax is wrong."
        raise TemplateFault(error.lineno, message, "template_syntax") from error
    # A number with thousands of digits, or thousands of nested brackets.
    except (ValueError, RecursionError) as error:
        longest = max(_OPEN_TAG.finditer(html), key=lambda tag: len(tag[0]))
        line = html.count("\n", 0, longest.start()) + 1
        raise TemplateFault(line, "A tag is too long.", "template_syntax") from error


def _check_tokens(html: str) -> None:
    try:
        for count, (line, _, _) in enumerate(_SAVED.lex(html)):
            if count == MAX_TOKENS:
                message = f"the tags up to here have more than {MAX_TOKENS} tokens."
                raise TemplateFault(line, message, "too_large")
    except TemplateSyntaxError:
        return  # parsing reports it


def _check_loops(tree: nodes.Template) -> None:
    """Refuse loops that could not repeat over `MAX_ROWS` entries of usual length."""
    fuel = _size(tree.body) * NODE
    for loop in tree.find_all(nodes.For):
        filters = sum(1 for part in loop.body for _ in part.find_all(nodes.Filter))
        fuel += MAX_ROWS * (_row_fuel(loop) + filters * TYPICAL_LENGTH)
        if fuel > MAX_FUEL:
            message = (
                "the for loops up to here do too much in each row. They could"
                f" not repeat over {MAX_ROWS} entries. Use fewer tags and filters in them."
            )
            raise TemplateFault(loop.lineno, message, "too_complex")


def _row_fuel(loop: nodes.For) -> int:
    """Return the fuel for a row, as if it took every branch and its filters read nothing."""
    return (1 + _size(loop.body)) * NODE


def _size(statements: Sequence[nodes.Node]) -> int:
    """Count the nodes of statements. To show a value takes the time of two more."""
    size = 0
    for statement in statements:
        for node in (statement, *statement.find_all(nodes.Node)):
            size += 1
            if isinstance(node, nodes.Output):
                size += sum(2 for shown in node.nodes if not isinstance(shown, nodes.TemplateData))
    return size


def _check_constant(node: nodes.Node) -> None:
    match node:
        case nodes.List(items=[]):
            return
        case nodes.Const(value=None | bool()):
            return
        case nodes.Const(value=int() | float() as number) if abs(number) < _NUMBERS:
            return
        case nodes.Const(value=str() as text) if len(text) <= MAX_CONSTANT:
            # JSON writes an emoji as two escapes, of which Jinja2 reads each alone.
            node.value = _joined_surrogates(text)
            if node.value is not None and not _CONTROLS.search(node.value):
                return
    message = (
        f"Only a text of up to {MAX_CONSTANT} characters without control characters, a number"
        " below 2^53, true, false or [] is allowed."
    )
    _refuse(node, message)


def _is_nothing(constant: nodes.Node) -> bool:
    return isinstance(constant, nodes.List) or constant == nodes.Const(None)


def _joined_surrogates(text: str) -> str | None:
    """Return a text with each pair of surrogates as the character that it means.

    None if one is alone.
    """
    try:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        return None


def _refuse(node: nodes.Node, message: str) -> NoReturn:
    # Jinja2 gives some statements no line, but their contents have one.
    inner = (one.lineno for one in node.find_all(nodes.Node) if one.lineno)
    raise TemplateFault(node.lineno or next(inner, 1), message, "not_allowed")


def _text_filter(change: Callable[[str], str]) -> Callable[[Context, Json | Undefined], str]:
    """Return a filter that burns fuel for each character of its value."""

    @pass_context
    def apply(context: Context, value: Json | Undefined) -> str:
        shown = check_output(value)
        fuel: Fuel = context.parent[FUEL]
        if isinstance(shown, str):
            fuel.burn(len(shown))
            return change(shown)
        if isinstance(shown, int):
            # Writing a number takes time quadratic in its digits, of which JSON allows 4,300.
            fuel.burn(shown.bit_length())
        return change(str(shown))

    return apply


def _value_or_default(value: Json | Undefined, default: Json) -> Json:
    return default if value is None or isinstance(value, Undefined) else value


@pass_context
def _check_rows(context: Context, value: Json | Undefined, row_fuel: int) -> list[Json] | Undefined:
    """Return the list that a `for` repeats over, or an undefined value, which Jinja2 reports.

    Burn the fuel for all rows in advance.
    """
    if isinstance(value, Undefined):
        return value
    if isinstance(value, list) and len(value) <= MAX_ROWS:
        fuel: Fuel = context.parent[FUEL]
        fuel.burn(len(value) * row_fuel)
        return value
    message = f"a for of the template needs a list of at most {MAX_ROWS} entries"
    raise ValidationFailed(FieldError("variables", message, "invalid_type"))


__all__ = ["Branding", "RenderTooLarge", "render_saved", "render_starter"]

#: How many compiled saved templates a process keeps. Each is a few times larger than its HTML.
_MAX_COMPILED: Final = 32


@dataclass(frozen=True, slots=True)
class Branding:
    """The brand of an email, when it is sent, and whether the footer names the service.

    A test says at its top that it is one. With `report_url`, the footer links to it, so that the
    recipient can stop such mail.
    """

    name: str | None
    logo_url: str | None
    attribution: bool
    is_test: bool = False
    accent: str | None = None
    sent_at: datetime | None = None
    report_url: str | None = None


def render_starter(slug: str, values: Mapping[str, Json], branding: Branding) -> str:
    """Render a starter template to an HTML document.

    Args:
        values: a value for each variable (see `rendering.values`); optional ones may be left out.
    """
    starter = get_starter(slug)
    return render_bounded(
        compile_starter(slug),
        {
            **{variable.name: None for variable in starter.optional},
            **values,
            "brand_name": branding.name or "",
            "logo_url": branding.logo_url,
            "attribution": branding.attribution,
            "is_test": branding.is_test,
            "report_url": branding.report_url,
            "colour": dict(palette(branding.accent)),
            "date": format_date(branding.sent_at) if branding.sent_at else None,
        },
    )


@as_source_errors
def render_saved(
    html: str, values: Mapping[str, Json], request_fuel: RequestFuel | None = None
) -> str:
    """Render a saved template to HTML.

    Check the template against the allow-list again, which may have become shorter since then.
    """
    request_fuel = request_fuel or RequestFuel()
    request_fuel.check()
    program = _compile_saved(html)
    request_fuel.charge_compiling(html, program.tokens)
    fuel = Fuel()
    characters = MAX_BYTES  # unless rendering succeeds
    try:
        fuel.burn(program.fuel)
        rendered = render_bounded(program.template, {**values, FUEL: fuel})
        characters = len(rendered)
    except UndefinedError as error:
        missing = FieldError(
            "variables", "the template needs a value that is missing", "missing_variable"
        )
        raise ValidationFailed(missing) from error
    finally:
        request_fuel.charge_rendering(fuel, characters)
    return rendered


@cache
def compile_starter(slug: str) -> Template:
    """Return a starter template as a program; a process compiles each once."""
    source = (STARTERS / slug / "mail.html").read_text(encoding="utf-8")
    return _STARTER.from_string(source)


@lru_cache(_MAX_COMPILED)
def _compile_saved(html: str) -> SavedProgram:
    return compile_saved(html)


_SAVED: Final = MailEnvironment(
    {
        "capitalize": _text_filter(str.capitalize),
        "default": _value_or_default,
        "lower": _text_filter(str.lower),
        "trim": _text_filter(str.strip),
        "upper": _text_filter(str.upper),
        _ROWS: _check_rows,
    }
)
_STARTER: Final = MailEnvironment(
    {
        "contact_url": contact_url,
        "currency_code": currency_code,
        "days_ahead": days_ahead,
        "duration": duration,
        "grouped": grouped,
    },
    block_start="<!--%",
    block_end="%-->",
)
