"""The fuel of saved templates: what burns it, and what it bounds."""

import sys
from collections.abc import Callable
from itertools import pairwise
from types import CodeType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.domain.errors import Json, ValidationFailed
from pillarbox.rendering.sandbox import Branding, render_saved, render_starter
from pillarbox.rendering.saved import NODE, OutOfFuel, RequestFuel, missing_values, surely_renders
from pillarbox.rendering.starters import SLUGS, get_starter
from pillarbox.rendering.template_check import check_template
from pillarbox.rendering.values import values_or_samples
from tests.loops import for_each
from tests.refusals import fault
from tests.unit.rendering.test_saved import JSON, PIECES

MAX_TOKENS = 15_000
MAX_FUEL = 32_000_000

MAX_ROWS = 1000

ROWS: list[Json] = [1] * MAX_ROWS
ORDER = (
    "<h1>Hi {{ name | default('there') | trim }}</h1>"
    "<table>{% for line in lines %}<tr>"
    + "<td>{% if line.x != 'no' and line.y %}{{ line.z.text | upper }}{% else %}-{% endif %}</td>"
    * 20
    + "</tr>{% else %}Nothing{% endfor %}</table>{% for item in more %}{{ item }}{% endfor %}"
)


def burnt(html: str, values: dict[str, Json]) -> int:
    """Return the fuel that an email burns, without compiling and output."""
    cold, warm = RequestFuel(), RequestFuel()
    render_saved(html, values, cold)
    render_saved(html, values, warm)
    assert cold.left == warm.left, "the fuel is the same each time"
    before = warm.left
    rendered = render_saved(html, values, warm)
    return before - warm.left - 2 * len(rendered)


def instructions(work: Callable[[], object]) -> int:
    """Count the instructions of the interpreter that some work takes."""
    count = 0

    def add(_code: CodeType, _offset: int) -> None:
        nonlocal count
        count += 1

    tool, events = 4, sys.monitoring.events
    sys.monitoring.use_tool_id(tool, "instructions")
    try:
        sys.monitoring.register_callback(tool, events.INSTRUCTION, add)
        sys.monitoring.set_events(tool, events.INSTRUCTION)
        work()
        sys.monitoring.set_events(tool, events.NO_EVENTS)
    finally:
        sys.monitoring.free_tool_id(tool)
    return count


def refusal(work: Callable[[], object]) -> tuple[str, str, str]:
    error = fault(work)
    return error.field, error.code, error.message


@pytest.mark.parametrize("name", ["capitalize", "lower", "trim", "upper"])
def test_filters_burn_fuel_for_each_character(name: str) -> None:
    html = f"{{% for i in x %}}{{{{ y | {name} | trim }}}}{{% endfor %}}"
    for rows in (1, 5):
        short, long = (burnt(html, {"x": [1] * rows, "y": " " * size}) for size in (10, 1010))
        read_twice = 1 if name == "trim" else 2
        assert long - short == 1000 * rows * read_twice


def test_filters_burn_fuel_for_long_numbers() -> None:
    """A number with many digits burns more than its digits, because writing it is quadratic."""
    assert burnt("{{ x | trim }}", {"x": 10**4299}) > 3 * 4299
    assert burnt("{{ x | trim }}", {"x": True}) < 1000


def test_rows_burn_fuel_for_each_node() -> None:
    html = "{% for i in x %}{% if y and z %}{{ y }}{% else %}{{ z }}{% endif %}{% endfor %}"
    one, many = (burnt(html, {"x": [1] * rows, "y": "", "z": ""}) for rows in (1, 101))
    # The row, if, and, y, z, and in each branch a value, which counts three times, and its output.
    assert many - one == 100 * 13 * NODE


@for_each(
    ("body", "entry"),
    [
        *(
            ("{{ e }}", 1),
            ("text {{ i }} text", 1),
            ("{{ i.a }}", {"a": ""}),
            ("{{ i | upper }}", 1),
        ),
        ("{{ i.a.a.a.a.a.a.a.a.a.a.a | default('') }}", {}),
        ("{{ e" + " | trim" * 16 + " }}", 1),
        ("{% if i.a.a | default('') != 'x' %}{% endif %}", {}),
        ("{% if not e and (e or e or e == 'x') %}a{% endif %}", 1),
        ("{% if e %}{% elif e %}{% elif e %}{% else %}{% endif %}", 1),
        ("", 1),
    ],
)
def test_fuel_bounds_the_instructions(body: str, entry: Json) -> None:
    html = "{% for i in x %}" + body * 5 + "{% endfor %}"
    few: dict[str, Json] = {"x": [entry] * 5, "e": ""}
    many: dict[str, Json] = {"x": [entry] * 55, "e": ""}
    fuel = burnt(html, many) - burnt(html, few)  # compiles the template, too
    work = instructions(lambda: render_saved(html, many))
    work -= instructions(lambda: render_saved(html, few))
    assert 0 < work <= 2 * fuel


def test_a_bomb_of_filters_runs_out_of_fuel() -> None:
    """Filters that read a long text in each row and show nothing are refused with 422."""
    bomb = "{% for i in x %}{{ y | upper | lower | trim }}{% endfor %}"
    check_template("s", bomb)
    assert refusal(lambda: render_saved(bomb, {"x": ROWS, "y": " " * 100_000}))[:2] == (
        "variables",
        "too_complex",
    )
    assert render_saved(bomb, {"x": ROWS, "y": " " * 5_000}) == ""


def test_a_template_of_an_older_release_runs_out_of_fuel() -> None:
    html = "{% for i in x %}" + "{{ i.a.a.a.a | default('') }}" * 400 + "{% endfor %}"
    assert refusal(lambda: check_template("s", html))[1] == "too_complex"
    assert render_saved(html, {"x": [1, 2]}) == ""
    with pytest.raises(OutOfFuel):
        render_saved(html, {"x": ROWS})


@pytest.mark.parametrize(
    "body",
    [
        "{{ i }}" * 450,
        "{{ i.a.a.a | default('') }}" * 250,
        "{{ i | upper | lower }}" * 250,
        "{% if i %}{% endif %}" * 45 + "{{ i }}" * 400,
        ("{% if " + " and ".join(["(i and i and i and i)"] * 12) + " %}{% endif %}") * 30,
    ],
)
def test_heavy_loops_are_refused_at_saving(body: str) -> None:
    """A loop that could not repeat over 1,000 rows is refused with its line and the reason."""
    html = "<p>\n{% for i in few %}{{ i }}{% endfor %}\n{% for i in x %}" + body + "{% endfor %}"
    field, code, message = refusal(lambda: check_template("s", html))
    assert (field, code) == ("html", "too_complex")
    assert message.startswith("Line 3: the for loops up to here do too much in each row.")


def test_many_small_loops_are_refused_at_saving() -> None:
    loop = "{% for i in x %}" + "{{ i }}" * 75 + "{% endfor %}"
    assert check_template("s", loop * 5).names == ("x",)
    assert refusal(lambda: check_template("s", loop * 6))[1] == "too_complex"


@pytest.mark.slow
def test_an_order_with_1000_lines_is_far_from_the_limit() -> None:
    """A table of 20 columns with conditions and filters renders 1,000 rows with half the fuel."""
    check_template("s", ORDER)
    line: Json = {"x": "yes", "y": 1, "z": {"text": "Tea, 100 g"}}
    values: dict[str, Json] = {"name": "Ada", "lines": [line] * MAX_ROWS, "more": ROWS}
    assert render_saved(ORDER, values).count("TEA, 100 G") == 20 * MAX_ROWS
    assert burnt(ORDER, values) < MAX_FUEL / 2


@pytest.mark.parametrize(
    "html",
    [
        "<p>\n" + "{# a #}" * MAX_TOKENS,
        "<p>\n{% if " + " or ".join(["(((x)))"] * 2000) + " %}{% endif %}",
        "<p>\n" + "{{ ((((((((((((((((x)))))))))))))))) }}" * 450,
    ],
)
def test_too_many_tokens_are_refused_at_saving(html: str) -> None:
    field, code, message = refusal(lambda: check_template("s", html))
    assert (field, code) == ("html", "too_large")
    assert message.startswith("Line 2: the tags up to here have more than")


def test_the_emails_of_a_request_share_fuel() -> None:
    assert RequestFuel().left == 8 * MAX_FUEL
    html = "{% for i in x %}{{ e }}{% endfor %}"
    one_email = burnt(html, {"x": ROWS, "e": ""})
    fuel, rendered = RequestFuel(8 * one_email), 0
    while fuel.left >= 0:
        render_saved(html, {"x": ROWS, "e": ""}, fuel)
        rendered += 1
    assert rendered == 8, "compiling the template took some of the fuel"
    field, code, message = refusal(lambda: render_saved("{{ e }}", {"e": ""}, fuel))
    assert (field, code) == ("variables", "too_complex")
    assert message.endswith("send fewer at a time.")
    assert render_saved("{{ e }}", {"e": "x"}) == "x"


def test_compiling_burns_the_fuel_of_a_request_once() -> None:
    fuel = RequestFuel()
    left = [fuel.left]
    for html in ("<p>{{ a }}", "<p>{{ a }}", "<i>{{ a }}"):
        render_saved(html, {"a": ""}, fuel)
        left.append(fuel.left)
    first, again, other = (before - after for before, after in pairwise(left))
    assert other == first > 10 * again > 0


def test_failed_emails_burn_the_fuel_of_a_request() -> None:
    fuel = RequestFuel()
    with pytest.raises(ValidationFailed):
        render_saved("{{ a }}", {}, fuel)
    assert fuel.left < 256_000_000 - 1024 * 1024


@for_each("slug", SLUGS)
def test_starters_take_the_same_steps_with_long_values(slug: str) -> None:
    starter = get_starter(slug)
    samples = values_or_samples(starter, {})
    counts = set()
    for size in (50, 5000):
        values: dict[str, Json] = dict.fromkeys(samples, "x" * size)
        branding = Branding("x" * size, "https://example.com/" + "x" * size, attribution=True)
        render_starter(slug, values, branding)
        counts.add(instructions(lambda: render_starter(slug, values, branding)))  # noqa: B023  called at once
    assert len(counts) == 1


@given(
    st.lists(PIECES, max_size=6).map("".join),
    st.dictionaries(st.sampled_from("abc"), JSON | st.text(max_size=99)),
)
def test_what_surely_renders_does_render(html: str, values: dict[str, Json]) -> None:
    try:
        variables = check_template("s", html)
    except ValidationFailed:
        return
    if not missing_values(variables.required, values) and surely_renders(html, values):
        assert isinstance(render_saved(html, values), str)


def test_most_emails_are_not_rendered_at_acceptance() -> None:
    """Texts and numbers surely render. Loops, lists, objects and many filters may not."""
    html = "{{ a | default('x') | upper }}{% if b == 'for' %}{{ b }}{% endif %}"
    assert surely_renders(html, {"a": "x" * 1000, "b": 7})
    assert not surely_renders(html, {"a": None, "b": 7})
    assert not surely_renders(html, {"a": [], "b": 7})
    assert not surely_renders(html, {"a": "", "b": {}})
    assert not surely_renders("{% for i in a %}{% endfor %}", {"a": "text"})
    assert not surely_renders("{{ a" + " | upper" * 16 + " }}" * 9, {"a": "x" * 999_999})
