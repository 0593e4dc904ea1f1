"""Random emails as programs and people write them: tags left out, crossed, hidden, in capitals.

Each word of a text occurs once and says where it stands: `w12` in text, `c12` in a comment, `s12`
in a script or style sheet, `t12` in a tag. Each URL has a number and ends in `/end`.
"""

from html.entities import html5
from random import Random
from typing import Final

_NAMES: Final = sorted({name.rstrip(";") for name in html5})
_LEGACY: Final = sorted(name for name in html5 if not name.endswith(";"))
_BLOCKS: Final = ("p", "p", "p", "div", "div", "h1", "h2", "section", "blockquote", "pre", "center")
_INLINES: Final = (
    "b",
    "i",
    "u",
    "em",
    "strong",
    "font",
    "span",
    "span",
    "span",
    "q",
    "x-y",
    "code",
)
_HIDING: Final = (
    *("hidden", "HIDDEN", "hidden=''", 'style="display:none"', "STYLE='DISPLAY : NONE'"),
    *("style=display:none", 'style="color:red; Display: None"', 'style="&#100;isplay:n&#111;ne"'),
    *('style="visibility:hidden"', "aria-hidden=true", "data-text=skip", 'style=";display:none;"'),
    *('style="display:none!important;display:block"', "title='a>b' hidden"),
)
_NOT_HIDING: Final = (
    *('style="color:red"', 'class="hidden"', 'title="display:none"', "data-hidden", "id=none"),
    *('style="display:none;display:block"', 'style="x-display:none"', "title='t0 > hidden'"),
    *("lang=en", 'title="t0 <b>"', "a=b/", "alt=<b", "style", "x=1 X=2", 'a="&copy=1"'),
)
#: Elements that are never shown.
_UNSHOWN: Final = ("template", "datalist", "dialog", "video", "canvas", "select")


def random_html(seed: int) -> str:
    """Return the document with a number."""
    return _RandomHtml(seed).document()


class _RandomHtml:
    """Writes one document."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311  a document can be written again
        self._number = 0
        #: How often end tags are left out, or others stand in their place.
        self._carelessness = self._random.choice((0, 0.1, 0.1, 0.3))
        self._hiding = self._random.choice((0.02, 0.1, 0.25))

    def document(self) -> str:
        """Return the HTML."""
        parts = ["<!DOCTYPE html>"]
        if self._random.random() < 0.6:
            parts.append(self._maybe("<html>") + self._maybe("<head>"))
            parts += [self._in_head() for _ in range(self._random.randrange(4))]
            parts.append(self._maybe("</head>") + self._maybe("<body>"))
        parts += [self._block(0) for _ in range(self._random.randrange(1, 7))]
        parts.append(self._maybe("</body>") + self._maybe("</html>"))
        return "".join(parts)

    def _maybe(self, text: str) -> str:
        return text if self._random.random() < 0.5 else ""

    def _word(self, kind: str = "w") -> str:
        self._number += 1
        return f"{kind}{self._number}q"

    def _in_head(self) -> str:
        return self._random.choice(
            (
                f"<title>{self._word('s')} <b></title>",
                f"<style>/* </head> {self._word('s')} <body> */</style>",
                f"<script>document.write('<body>{self._word('s')}')</script>",
                "<meta charset=utf-8>",
                f"<!-- {self._word('c')} <body> -->",
                f"<noscript><style>{self._word('s')}</style></noscript>",
                "\n",
            )
        )

    def _text(self) -> str:
        words = [self._word() for _ in range(self._random.randrange(1, 4))]
        gaps = (
            " ",
            "\n",
            "  ",
            "&nbsp;",
            " &amp; ",
            " < ",
            " &lt;b&gt; ",
            " &copy ",
            "&notit; ",
            " > ",
        )
        return self._random.choice(gaps).join(words) + self._random.choice(("", " ", "\n"))

    def _attributes(self) -> str:
        chosen = self._random.random()
        if chosen < self._hiding:
            return " " + self._random.choice(_HIDING)
        return " " + self._random.choice(_NOT_HIDING) if chosen > 0.75 else ""

    def _end(self, name: str, likely: float = 1) -> str:
        """Return an end tag, or what stands there in its place."""
        chosen = self._random.random()
        if likely < 1:
            return f"</{name}>" if chosen < likely else ""
        if chosen > self._carelessness:
            return f"</{self._random.choice((name, name, name.upper()))}>"
        if chosen < self._carelessness / 2:
            return ""
        other = self._random.choice(
            (*_BLOCKS, *_INLINES, "a", "td", "tr", "table", "ul", "li", "br")
        )
        return f"</{other}>" + self._maybe(f"</{name}>")

    def _element(self, name: str, content: str, likely: float = 1, more: str = "") -> str:
        tag = self._random.choice((name, name, name, name.upper()))
        return f"<{tag}{self._attributes()}{more}>{content}{self._end(name, likely)}"

    def _maybe_value(self) -> str:
        return f" value={self._random.randrange(-2, 12)}" if self._random.random() < 0.1 else ""

    def _block(self, depth: int) -> str:
        if depth > 5:
            return self._inline(depth)
        chosen = self._random.randrange(20)
        if chosen < 8:
            name = self._random.choice(_BLOCKS)
            return self._element(name, self._contents(depth), 0.4 if name == "p" else 1)
        if chosen < 11:
            name = self._random.choice(("ul", "ol", "ol"))
            items = "".join(
                self._element("li", self._contents(depth), 0.4, self._maybe_value())
                for _ in range(self._random.randrange(1, 4))
            )
            return f"<{name}{self._list_attributes(name)}>{items}{self._end(name)}"
        if chosen == 11:
            items = "".join(
                self._element(self._random.choice(("dt", "dd")), self._contents(depth), 0.4)
                for _ in range(3)
            )
            return self._element("dl", items)
        if chosen < 15:
            return self._table(depth + 1)
        if chosen == 15:
            # Standards differ about what a <select> without its end may contain.
            name = self._random.choice(_UNSHOWN)
            end = "</select>" if name == "select" else self._end(name)
            return f"<{name}{self._attributes()}>{self._text()}{end}"
        if chosen == 16:
            return self._element("form", self._contents(depth))
        return self._inline(depth + 1)

    def _contents(self, depth: int) -> str:
        return "".join(
            self._random.choice((self._block, self._inline, self._inline))(depth + 1)
            for _ in range(self._random.randrange(1, 4))
        )

    def _list_attributes(self, name: str) -> str:
        if name == "ul":
            return self._attributes()
        return self._random.choice(
            ("", "", " start=3", " reversed", " reversed start=9", " start=x")
        )

    def _table(self, depth: int) -> str:
        rows: list[str] = []
        for _ in range(self._random.randrange(1, 4)):
            cells = "".join(
                self._element(
                    self._random.choice(("td", "td", "td", "th")),
                    self._block(depth) if self._random.random() < 0.3 else self._inline(depth),
                    0.5,
                )
                for _ in range(self._random.randrange(1, 4))
            )
            rows.append(self._element("tr", cells, 0.5))
            if self._random.random() < 0.1 * self._carelessness:
                rows.append(self._inline(depth))
        content = "".join(rows)
        if self._random.random() < 0.3:
            content = self._element("tbody", content, 0.5)
        if self._random.random() < 0.2:
            content = self._element("caption", self._text(), 0.7) + content
        return self._element("table", content)

    def _inline(self, depth: int) -> str:
        chosen = self._random.randrange(24)
        if depth > 8 or chosen < 8:
            return self._text()
        if chosen < 13:
            content = "".join(self._inline(depth + 1) for _ in range(self._random.randrange(1, 3)))
            return self._element(self._random.choice(_INLINES), content)
        if chosen < 17:
            return self._link(depth)
        if chosen == 17:
            return self._random.choice(("<br>", "<br/>", "<hr>", "</br>", "</p>", "<wbr>"))
        if chosen == 18:
            return f'<img src=x alt="{self._word()} &amp; &lt;b&gt;"{self._attributes()}>'
        if chosen == 19:
            return f"<svg><a><text>{self._word('s')}</text></a></svg>"
        if chosen == 20:
            return f"<button>{self._text()}{self._end('button')}"
        return self._noise()

    def _noise(self) -> str:
        """Return what is not shown: a comment, a script, an instruction."""
        comment, script = self._word("c"), self._word("s")
        return self._random.choice(
            (
                f"<!-- <p>{comment}</p> -->",
                f"<!--[if mso]><p>{comment}</p><![endif]-->",
                f"<!--{comment}--!>",
                "<!-->",
                "<!--->",
                "<![if !mso]>",
                "<![endif]>",
                f"<?xml {comment} ?>",
                f"<!x {comment}>",
                f"</ {comment}>",
                "</>",
                f"<style media=print>p:before{{content:'{script}<p>'}}</style>",
                f"<STYLE>/* </p> <!-- {script} */</STYLE >",
                f"<script type='a>b'>'<b>' + {script} + '</b>' + '</scrip>'</script>",
                f"<script><!-- <script> {script} </script> {script} --></script>",
                f"<title>{script}</title>",
                f"<textarea><p>{script}</textarea>",
                f"<iframe>{script}<b></iframe>",
            )
        )

    def _link(self, depth: int) -> str:
        self._number += 1
        path = "".join(self._piece() for _ in range(self._random.randrange(4)))
        scheme = self._random.choice(
            ("https", "https", "https", "http", "HTTPS", "myapp", "javascript", "JavaScript")
        )
        url = f"{scheme}://x.example/{self._number}{path}/end"
        if self._random.random() < 0.15:
            url = self._random.choice((" ", "\n", "\t", "&#10;", "&#1;")) + url + " "
        if self._random.random() < 0.1:
            url = url.replace("//x", "//\tx").replace("s:", "s&colon;")
        quotes = self._random.choice(('"', '"', "'"))
        content = self._text() if self._random.random() < 0.7 else self._block(depth + 1)
        start = f"<a href={quotes}{url}{quotes}{self._attributes()}>"
        return start + content + self._end("a")

    def _piece(self) -> str:
        """Return a part of a URL that looks like a character reference, or that needs encoding."""
        name = self._random.choice(_NAMES)
        legacy = self._random.choice(_LEGACY)
        return self._random.choice(
            (
                *(f"?&{legacy}=1", f"&{legacy}x=2", f"&{legacy}", f"&{legacy};", f"&{name};"),
                *(f"&{name}=1", "&amp;b=2", " ", "a b", "&#38;c=3", "&#x26;d", "&", "&&", "\n"),
                *("%20", "&#", "&#x", "&#;", "&lt", "&ltv=1", "ü", "\u00a0", "&zwnj;", "&shy"),
                *("&copy-1", "&copy/2", "&notit;", "&notin;", "&AMP=1", "?q=%3Cb%3E", ";", "'"[:0]),
            )
        )
