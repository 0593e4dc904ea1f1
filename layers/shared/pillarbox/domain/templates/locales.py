"""The locales of a saved template: a module of its own, since most templates have none."""

from typing import NamedTuple


class LocaleVariant(NamedTuple):
    """What a saved template has for one locale, as in `SavedTemplate`."""

    subject: str
    html: str
    text: str | None
    required: tuple[str, ...]
