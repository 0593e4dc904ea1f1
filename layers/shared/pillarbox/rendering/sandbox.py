"""The Jinja2 sandboxes that mails are rendered in, and the limit on what they may produce."""

from collections.abc import Mapping
from typing import Any, Final, override

from jinja2 import StrictUndefined, Template, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from pillarbox.domain.errors import FieldFault, Json, ValidationFailed

#: A mail's HTML, in bytes of UTF-8. Programs cut mails off long before.
MAX_BYTES: Final = 1024 * 1024


class RenderTooLarge(ValidationFailed):
    """The values make a mail of more than `MAX_BYTES`."""

    def __init__(self) -> None:
        message = f"These values make a mail of more than {MAX_BYTES} bytes."
        super().__init__(FieldFault("variables", message, "too_large"))


class MailEnvironment(ImmutableSandboxedEnvironment):
    """Jinja2 over JSON values alone.

    A path goes from object to object by key and never to an attribute of
    Python, so `{{ x.items }}` is the member "items" or nothing. No global and no
    test is there; filters are those that a subclass or its user puts in.
    """

    def __init__(self, *, block_start: str = "{%", block_end: str = "%}") -> None:
        super().__init__(
            block_start_string=block_start,
            block_end_string=block_end,
            autoescape=True,
            undefined=StrictUndefined,
            finalize=_written,
        )
        self.globals.clear()
        self.filters.clear()
        self.tests.clear()

    @override
    def getattr(self, obj: Any, attribute: str) -> Any:
        return self.getitem(obj, attribute)

    @override
    def getitem(self, obj: Any, argument: str | Any) -> Any:
        if isinstance(obj, dict) and argument in obj:
            return obj[argument]
        return self.undefined(obj=obj, name=argument)


def render_bounded(template: Template, values: Mapping[str, Json]) -> str:
    """Render piece by piece, and stop as soon as the mail grows too large.

    Raises:
        RenderTooLarge: beyond `MAX_BYTES`.
        jinja2.UndefinedError: a value is lacking.
    """
    room = MAX_BYTES
    pieces: list[str] = []
    for piece in template.generate(values):
        room -= len(piece) if piece.isascii() else len(piece.encode())
        if room < 0:
            raise RenderTooLarge
        pieces.append(piece)
    return "".join(pieces)


def _written(value: Json | Undefined) -> Json | Undefined:
    """A value as a mail shows it; lists and objects have no form that people read."""
    if isinstance(value, str | Undefined):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict):
        message = "A list or an object cannot be written out; name a member of it."
        raise ValidationFailed(FieldFault("variables", message, "invalid_type"))
    if value is None:
        message = "A value that the template shows is null."
        raise ValidationFailed(FieldFault("variables", message, "missing_variable"))
    return value
