"""Starter templates: contract sections 2.6, 4.6 and 4.7.

The brand and the footer of a preview are tested with the use case, its body beside `http`.
"""

from pillarbox.rendering.starters import all_starters
from tests.contract.client import Api
from tests.loops import for_each

STARTERS = {one.slug: [variable.name for variable in one.variables] for one in all_starters()}


def test_the_list_has_the_ten_templates(live: Api) -> None:
    """2.6, 4.6: the list has ten items, each with slug, name, description and variables."""
    listed = live.starters()
    assert listed.status == 200
    assert {item["slug"]: item["variables"] for item in listed.json} == STARTERS
    for item in listed.json:
        assert set(item) == {"slug", "name", "description", "variables"}
        assert item["name"]
        assert item["description"]


@for_each("slug", STARTERS)
def test_a_preview_renders_with_samples(live: Api, slug: str) -> None:
    """4.7: without a body a preview has slug, subject, html and sampleVariables."""
    shown = live.preview(slug)
    assert shown.status == 200
    assert set(shown.json) == {"slug", "subject", "html", "sampleVariables"}
    assert shown.json["slug"] == slug
    assert list(shown.json["sampleVariables"]) == STARTERS[slug]
    assert shown.json["subject"]
    assert "<html" in shown.json["html"]


def test_supplied_variables_are_merged_over_the_samples(live: Api) -> None:
    """4.7: sampleVariables are the merged values that the preview is rendered with."""
    shown = live.preview("otp", {"variables": {"otp_code": "555001", "other": "x"}}).json
    assert shown["sampleVariables"]["otp_code"] == "555001"
    assert shown["sampleVariables"]["app_name"]
    assert "555001" in shown["html"]
    branded = live.preview("otp", {"variables": None, "brandName": "Acme"})
    assert "Acme" in branded.json["html"]
    wrong: list[object] = [[], {"x": 1}, {"brandName": "a\nb"}, {"logoUrl": 1}]
    assert {live.preview("otp", body).code for body in wrong} == {"validation_failed"}


def test_a_preview_shows_optional_variables_and_lists_those_of_the_contract(live: Api) -> None:
    """2.6, 4.7: `lines` are in the HTML; sampleVariables has the names of the list alone."""
    shown = live.preview("welcome", {"variables": {"lines": ["Pick a plan"], "name": "Bo"}}).json
    assert "Pick a plan" in shown["html"]
    assert set(shown["sampleVariables"]) == {"name", "app_name"}
    wrong = live.preview("welcome", {"variables": {"lines": "Pick a plan"}})
    assert (wrong.status, wrong.code) == (422, "validation_failed")
