"""The customers' guide, docs/templates.md: its examples and its limits."""

import re
from pathlib import Path

from pillarbox.application.templates.authoring import MAX_STORED
from pillarbox.domain.errors import Json
from pillarbox.rendering.sandbox import MAX_DEPTH, MAX_ROWS, MAX_TAGS, MAX_TOKENS, render_saved
from pillarbox.rendering.saved import MAX_CONSTANT, MAX_FUEL, MAX_REQUEST_FUEL, NODE
from pillarbox.rendering.template_check import check_template
from tests.loops import for_each

GUIDE = (Path(__file__).parents[2] / "docs" / "templates.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```html\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
VALUES: dict[str, Json] = {
    "customer": {"name": "Ada"},
    "order": {"id": "A-7", "lines": [{"title": "Tea", "price": 3.5}]},
    "plan": "pro",
    "trial": False,
}


@for_each("example", EXAMPLES)
def test_the_examples_are_valid(example: str) -> None:
    check_template("Order {{ order.id }}", example)
    html = render_saved(example, VALUES)
    assert "{%" not in html
    assert "{#" not in html


def test_the_guide_states_the_limits() -> None:
    assert len(EXAMPLES) == 5
    for limit in (
        f"{MAX_STORED:,} bytes with its subject, {MAX_TAGS} tags, {MAX_TOKENS:,} tokens",
        f"after one another | {MAX_DEPTH} |",
        f"text in a template | {MAX_CONSTANT} characters",
        f"in a `for` | {MAX_ROWS:,} |",
        f"fuel | {MAX_FUEL // 1_000_000} million units",
        f"costs {NODE} units, a value that\nis shown {2 * NODE} more",
    ):
        assert limit in GUIDE
    assert MAX_REQUEST_FUEL == 8 * MAX_FUEL
