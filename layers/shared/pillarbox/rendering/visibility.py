"""Open elements, and whether they are shown."""

import re
from operator import itemgetter
from typing import Final

from pillarbox.rendering.html_elements import KINDS, NEVER_SHOWN
from pillarbox.rendering.markup import attributes_of

#: How much of an element is shown. Only invisible elements may contain shown ones.
NOT_DISPLAYED, INVISIBLE, SHOWN = range(3)
#: Tags without any of these do not hide what they begin.
_HIDING: Final = ("none", "hid", "visib", "data-text", "&")
_DECLARATION: Final = re.compile(r"(?:^|;)\s*(display|visibility)\s*:\s*([a-z-]+)\s*(!?)")


class Element:
    """An open element."""

    #: Its place among the open elements; 0 if it is not open.
    index = 0
    #: Its place among all elements.
    number = 0
    shown = SHOWN
    #: How much of its text is shown. Text between cells is shown before the table.
    inside = SHOWN
    #: What the formatting elements that ended in it said about being shown.
    around: tuple[int, ...] = ()
    #: Whether the writer knows it; None if it did, so it is not begun again.
    is_begun: bool | None = False
    #: What the writer needs at its end.
    note: object = None

    def __init__(self, tag: str, source: str, own: int | None) -> None:
        self.tag = tag
        self.source = source
        self.kinds = KINDS.get(tag) or (tag,)
        #: What the element itself says about being shown.
        self.own = own


def combined(above: int, own: int | None) -> int:
    """Return how much of an element is shown that says something in a parent that is shown so."""
    return above if own is None or above == NOT_DISPLAYED else own


class Visibility:
    """Reads tags, each text of attributes only once."""

    def __init__(self) -> None:
        self._read: dict[str, int | None] = {}

    def of(self, tag: str, source: str) -> int | None:
        """Return what a tag says about its element: not displayed, invisible, shown or nothing."""
        if tag in NEVER_SHOWN:
            return NOT_DISPLAYED
        if tag in {"datalist", "dialog"}:
            return _visibility(tag, source)
        if not source:
            return None
        if source not in self._read:
            lowered = source.lower()
            may_hide = any(word in lowered for word in _HIDING)
            self._read[source] = _visibility(tag, source) if may_hide else None
        return self._read[source]


def _visibility(tag: str, source: str) -> int | None:
    attributes = attributes_of(source)
    found = _DECLARATION.findall(attributes.get("style", "").lower())
    # The last one counts, among the important ones if there are any.
    declared = {name: value for name, value, _ in sorted(found, key=itemgetter(2))}
    is_closed = (
        "hidden" in attributes
        or tag == "datalist"
        or (tag == "dialog" and "open" not in attributes)
    )
    if (
        declared.get("display", "none" if is_closed else "") == "none"
        or attributes.get("aria-hidden", "").lower() == "true"
        or attributes.get("data-text", "").lower() == "skip"
    ):
        return NOT_DISPLAYED
    return {"hidden": INVISIBLE, "collapse": INVISIBLE, "visible": SHOWN}.get(
        declared.get("visibility", "")
    )
