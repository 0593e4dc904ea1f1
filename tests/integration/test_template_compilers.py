"""The compilers of templates load nothing from the network."""

from collections.abc import Iterator

import pytest

from pillarbox.domain.errors import ValidationFailed
from pillarbox.domain.templates.draft import SourceKind
from pillarbox.rendering.compiling import compile_source
from tests.servers import Handler, serving


@pytest.fixture
def requests() -> Iterator[tuple[str, list[str]]]:
    """The URL of a server, and the paths that it was asked for."""
    paths: list[str] = []

    class Noting(Handler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.write(200)

    with serving(Noting) as url:
        yield url, paths


def test_nothing_is_loaded(requests: tuple[str, list[str]]) -> None:
    """Neither compiler follows a link, an import, a font or an include."""
    url, paths = requests
    link = f'<link rel="stylesheet" href="{url}/link.css"/>'
    html = (
        f"<html><head>{link}<style>@import url({url}/import.css); p {{ color: red }}</style></head>"
    )
    compile_source(SourceKind.HTML, f"{html}<body><p>x</p><img src='{url}/img'/></body></html>")
    head = f'<mj-font name="x" href="{url}/font"/>'
    head += '<mj-style inline="inline">p { color: red }</mj-style>'
    body = f'<mj-raw>{link}</mj-raw><mj-text font-family="x"><p>x</p></mj-text>'
    source = f"<mjml><mj-head>{head}</mj-head><mj-body>{body}</mj-body></mjml>"
    assert "color: red" in compile_source(SourceKind.MJML, source)[0]
    with pytest.raises(ValidationFailed):
        compile_source(
            SourceKind.MJML, f'<mjml><mj-body><mj-include path="{url}/x"/></mj-body></mjml>'
        )
    assert paths == []
