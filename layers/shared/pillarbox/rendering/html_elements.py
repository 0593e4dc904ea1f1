"""Kinds of HTML elements, by the names of the HTML standard (13.2.4.2, 13.2.6)."""

from typing import Final

BLOCKS: Final = frozenset(
    {
        *("address", "article", "aside", "blockquote", "center", "details", "dialog", "dir", "div"),
        *("dl", "fieldset", "figcaption", "figure", "footer", "header", "hgroup", "listing"),
        *("main", "menu", "nav", "ol", "p", "pre", "search", "section", "summary", "ul"),
    }
)
HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
FORMATTING: Final = frozenset(
    {
        *("a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong"),
        *("tt", "u"),
    }
)
INLINE_VOID: Final = frozenset({"area", "br", "embed", "image", "img", "input", "keygen", "wbr"})
VOID: Final = INLINE_VOID | {
    *("base", "basefont", "bgsound", "hr", "link", "meta", "param", "source", "track"),
}
#: They begin and end where they must, so their tags say nothing.
OUTER: Final = frozenset({"body", "frame", "frameset", "head", "html"})
CELLS: Final = frozenset({"caption", "td", "th"})
ROWS: Final = frozenset({"tbody", "tfoot", "thead", "tr"})
OF_TABLES: Final = CELLS | ROWS | {"col", "colgroup"}
OBJECTS: Final = frozenset({"applet", "marquee", "object"})
RUBY: Final = frozenset({"rb", "rp", "rt", "rtc"})
FOREIGN: Final = frozenset({"math", "svg"})
#: Elements of SVG and MathML that contain HTML.
POINTS: Final = frozenset({"desc", "foreignobject", "mi", "mn", "mo", "ms", "mtext"})
#: Elements of HTML that end SVG and MathML (13.2.6.5).
NOT_FOREIGN: Final = HEADINGS | {
    *("b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em"),
    *("embed", "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr", "ol", "p"),
    *("pre", "ruby", "s", "small", "span", "strike", "strong", "sub", "sup", "table", "tt", "u"),
    *("ul", "var"),
}
#: Elements that are invisible, or useless without their appearance.
NEVER_SHOWN: Final = FOREIGN | {
    *("audio", "canvas", "object", "select", "template", "video"),
}
SPECIAL: Final = (BLOCKS - {"dialog"} | HEADINGS | CELLS | ROWS | OBJECTS) | {
    *("button", "dd", "dt", "form", "li", "noscript", "select", "table", "template"),
}
IMPLIED: Final = RUBY | {"dd", "dt", "li", "optgroup", "option", "p"}
SCOPES: Final = CELLS | OBJECTS | {"select", "table", "template"}
MARKERS: Final = CELLS | OBJECTS | {"template"}
GROUPS: Final = {
    "#special": SPECIAL,
    "#scope": SCOPES,
    #: What stops the search for an item that a new one ends.
    "#item": SPECIAL - {"address", "div", "p"},
    "#foreign": FOREIGN,
    "#point": POINTS,
}
#: The tag and the groups of an element.
KINDS: Final = {
    tag: (tag, *(name for name, members in GROUPS.items() if tag in members))
    for tag in SPECIAL | FOREIGN | POINTS
}
