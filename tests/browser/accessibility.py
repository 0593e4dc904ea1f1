"""What axe finds on a page."""

from typing import Any, Final, Literal

from axe_playwright_python.base import AXE_FILE_PATH
from playwright.sync_api import Frame, Page

_WCAG: Final = {"wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"}
_GRAVE: Final = {"serious", "critical"}
_AXE: Final = AXE_FILE_PATH.read_text(encoding="utf-8")
#: axe is in one document alone, so it would call frames in vain: a frame needs a run of its own.
#: By itself it leaves out WCAG 2.2's rule about small targets.
_RUN: Final = """
([part, options]) =>
  axe.run(part ?? document, {
    resultTypes: ["violations"], iframes: false,
    rules: { "target-size": { enabled: true } }, ...options
  })
  .then((found) => found.violations)
"""
#: By how many pixels a page and its windows are wider than they may be, and what sticks out.
_EXCESS: Final = """
(width) => {
  const excess = { page: document.documentElement.scrollWidth - width };
  for (const window of document.querySelectorAll("dialog[open]"))
    excess[window.className] = window.scrollWidth - window.clientWidth;
  if (excess.page > 0)
    for (const one of document.querySelectorAll("main *, dialog[open] *"))
      excess[`${one.tagName} ${one.className}`] = one.getBoundingClientRect().right - width;
  return Object.fromEntries(Object.entries(excess).filter(([, pixels]) => pixels > 0));
}
"""
#: Width in pixels -> the theme in which it is tried.
THEMES: Final[dict[int, Literal["light", "dark"]]] = {320: "light", 1280: "dark"}
#: The rules that look at colours. A theme changes nothing else.
_COLOURS: Final = {"runOnly": ["color-contrast", "link-in-text-block"]}


def violations(
    page: Page | Frame, *, only_colours: bool = False, within: str | None = None
) -> list[str]:
    """Wait for animations; return the rules that a page or a frame fails, with the elements.

    Of axe's own rules beyond WCAG 2.2 A and AA only serious and critical failures count. For a
    second theme the rules about colours are enough. `within` selects the part of a page to check.
    """
    # wait_for_function uses `eval`, which the page's policy forbids.
    page.evaluate(
        "Promise.allSettled(document.getAnimations().map((animation) => animation.finished))"
    )
    if page.evaluate("typeof axe === 'undefined'"):  # it takes longer to load than to run
        page.evaluate(_AXE)
    found: list[Any] = page.evaluate(_RUN, [within, _COLOURS if only_colours else {}])
    return [
        f"{rule['id']} ({rule['impact']}): {node['html']}"
        for rule in found
        if rule["impact"] in _GRAVE or _WCAG & {*rule["tags"]}
        for node in rule["nodes"]
    ]


def assert_accessible(page: Page, within: str | None = None) -> None:
    """Check that a page fits two widths and passes axe's rules, narrow and light, wide and dark.

    A width changes no colour, and a theme changes nothing else, so two runs see them all. The page
    stays wide and dark. `within` selects the part that is new since the page was last checked.
    """
    for width, theme in THEMES.items():
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)
        assert page.evaluate(_EXCESS, width) == {}, f"{width}: {page.url}"
        found = violations(page, within=within)
        assert not found, f"{width} {theme}: {found}"
