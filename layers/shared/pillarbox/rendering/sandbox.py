"""The Jinja2 sandbox for templates, and the size limit of a rendered email."""

from collections.abc import Mapping
from typing import Any, Final, override

from jinja2 import StrictUndefined, Template, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from pillarbox.domain.errors import FieldError, Json, ValidationFailed

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
    tests, and only the filters that the caller adds.
    """

    def __init__(self, *, block_start: str = "{%", block_end: str = "%}") -> None:
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
        self.filters.clear()
        self.tests.clear()

    @override
    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, dict) and attribute in obj:
            return obj[attribute]
        return self.undefined(obj=obj, name=attribute)

    @override
    def getitem(self, obj: Any, argument: str | Any) -> Any:
        return self.getattr(obj, argument)


def render_bounded(template: Template, values: Mapping[str, object]) -> str:
    """Render a template piece by piece, and stop as soon as the result is too large.

    Raises:
        RenderTooLarge: the result is larger than `MAX_BYTES`.
        jinja2.UndefinedError: a value is missing.
    """
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
