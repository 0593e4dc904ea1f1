"""The values of starter templates: kinds, fallbacks, samples."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.domain.errors import Json, ValidationFailed
from pillarbox.domain.template import StarterTemplate
from pillarbox.rendering.starters import all_starters, find_starter
from pillarbox.rendering.values import check_logo_url, preview_values, starter_values
from pillarbox.rendering.words import contact_url, days_ahead, duration, moment

LEFT_OUT = "left out"
NOW = datetime(2026, 11, 20, 14, 5, tzinfo=UTC)


def starter(slug: str) -> StarterTemplate:
    found = find_starter(slug)
    assert found
    return found


def values(
    slug: str,
    given: dict[str, Json],
    *,
    brand: str | None = None,
    sender_name: str | None = None,
) -> dict[str, Json]:
    return starter_values(
        starter(slug),
        given,
        brand=brand,
        sender_name=sender_name,
        contact="help@shop.example",
        now=NOW,
    )


def faults(slug: str, given: dict[str, Json]) -> list[tuple[str, str]]:
    with pytest.raises(ValidationFailed) as refused:
        values(slug, given)
    assert refused.value.status == 422
    return [(fault.field, fault.code) for fault in refused.value.faults]


@pytest.mark.parametrize(
    ("slug", "name"),
    [(s.slug, v.name) for s in all_starters() for v in s.variables if v.required],
)
@pytest.mark.parametrize("lacking", [LEFT_OUT, None, "", " \n"])
def test_lacking_required_variable(slug: str, name: str, lacking: Json) -> None:
    """Each required variable that is left out, null or blank is named in a 422."""
    given: dict[str, Json] = {v.name: v.sample for v in starter(slug).variables}
    del given[name]
    if lacking is not LEFT_OUT:
        given[name] = lacking
    assert faults(slug, given) == [(f"variables.{name}", "missing_variable")]


def test_all_faults_at_once() -> None:
    """A 422 lists every fault of the variables, in the template's order."""
    assert faults("team_invite", {"inviter_name": ["x"], "accept_url": "javascript:alert(1)"}) == [
        ("variables.inviter_name", "invalid_type"),
        ("variables.team_name", "missing_variable"),
        ("variables.accept_url", "invalid_url"),
    ]


def test_fallbacks() -> None:
    """What can be said without the caller is said by fallbacks."""
    assert values("otp", {"otp_code": 123456}, brand="Shop", sender_name="Ann") == {
        "otp_code": 123456,
        "expiry_minutes": 10,
        "app_name": "Shop",
    }
    assert values("welcome", {}, sender_name="Ann") == {"name": "there", "app_name": "Ann"}
    assert values("welcome", {})["app_name"] == "shop.example"
    assert values("password_changed", {"name": ""}) == {
        "name": "there",
        "support_email": "help@shop.example",
    }
    assert values("security_alert", {"ip": None}) == {
        "event": "Unusual activity on your account",
        "ip": "Not recorded",
        "at": "20 November 2026, 14:05 UTC",
    }


def test_extra_variables() -> None:
    """Variables that a template does not know are ignored, whatever they hold."""
    assert values("email_verify", {"verify_url": "https://x.example", "other": [{}]}) == {
        "verify_url": "https://x.example"
    }


@pytest.mark.parametrize("value", [True, False, [], ["a"], {}, {"a": 1}])
def test_kinds_of_text(value: Json) -> None:
    """Text takes strings and numbers; a boolean, a list or an object is refused."""
    assert faults("otp", {"otp_code": value}) == [("variables.otp_code", "invalid_type")]


@pytest.mark.parametrize("value", ["K7-QX", 482913, 9.5, 0])
def test_text_and_numbers(value: Json) -> None:
    """A value is taken as it was given."""
    assert values("otp", {"otp_code": value})["otp_code"] == value


@pytest.mark.parametrize(
    "url",
    [
        *("javascript:alert(1)", "data:text/html,x", "mailto:a@b.example", "ftp://x.example"),
        *("//x.example", "x.example", "https://", "https:///path", "https://:443", "http://["),
        *(" https://x.example", "https://x.example/a b", "https://x.example\n", "java\tscript:a"),
        *("https://x.example/\u202e", "https://x.example/\0", "https://x.example\\@y.example"),
    ],
)
def test_refused_urls(url: str) -> None:
    """A URL variable is http: or https: with a host and nothing that hides where it leads."""
    assert faults("email_verify", {"verify_url": url}) == [("variables.verify_url", "invalid_url")]


@pytest.mark.parametrize(
    "url", ["https://x.example", "HTTP://x.example:8080/a?b=c&d=%20#e", "https://bücher.example/ü"]
)
def test_taken_urls(url: str) -> None:
    """Web addresses pass as they are."""
    assert values("email_verify", {"verify_url": url}) == {"verify_url": url}


def test_url_that_is_no_string() -> None:
    """A number is no URL."""
    assert faults("email_verify", {"verify_url": 5}) == [("variables.verify_url", "invalid_type")]


@pytest.mark.parametrize(
    ("contact", "opens"),
    [
        ("help@x.example", "mailto:help@x.example"),
        ("mailto:help@x.example?subject=Hi", "mailto:help@x.example?subject=Hi"),
        ("https://x.example/help", "https://x.example/help"),
    ],
)
def test_contacts(contact: str, opens: str) -> None:
    """A contact is an address or a URL, and its link opens it."""
    assert values("password_changed", {"support_email": contact})["support_email"] == contact
    assert contact_url(contact) == opens


@pytest.mark.parametrize(
    "contact", ["help", "javascript:x@y", "mailto:", "mailto:x", "a@b@c", "a b@c.example", "x@y\n"]
)
def test_refused_contacts(contact: str) -> None:
    """A contact that nobody can follow is refused."""
    assert faults("password_changed", {"support_email": contact}) == [
        ("variables.support_email", "invalid_url")
    ]


@pytest.mark.parametrize("slug", [s.slug for s in all_starters()])
def test_preview_fills_from_samples(slug: str) -> None:
    """A preview needs no variable: samples fill what is left out, and pass their own check."""
    template = starter(slug)
    samples = {v.name: v.sample for v in template.variables}
    assert preview_values(template, {}) == samples
    assert preview_values(template, dict(samples)) == samples
    assert values(slug, dict(samples)) == samples


def test_preview_checks_kinds() -> None:
    """A preview holds the given values against their kinds as a send does."""
    with pytest.raises(ValidationFailed, match="verify_url"):
        preview_values(starter("email_verify"), {"verify_url": "javascript:alert(1)"})


def test_logo_url() -> None:
    """A logo is https: with a host; addresses within a network are not fetched, so they pass."""
    check_logo_url("https://x.example/logo.png")
    check_logo_url("https://169.254.169.254/latest")
    for url in ("http://x.example/l.png", "data:image/png;base64,AA", "https://", "", '"><img>'):
        with pytest.raises(ValidationFailed) as refused:
            check_logo_url(url)
        assert [(f.field, f.code) for f in refused.value.faults] == [("logoUrl", "invalid_url")]


@given(st.text())
def test_any_url(url: str) -> None:
    """Any text as a URL is taken or refused, and what is taken begins with its scheme."""
    try:
        values("email_verify", {"verify_url": url})
    except ValidationFailed:
        return
    assert url.lower().startswith(("http://", "https://"))


@pytest.mark.parametrize(
    ("minutes", "words"),
    [
        *((1, "1 minute"), ("10", "10 minutes"), (0, "0 minutes"), (59, "59 minutes")),
        *((60, "1 hour"), ("90", "90 minutes"), (120, "2 hours"), (1440, "24 hours")),
        *((2880, "2 days"), ("a few", "a few minutes"), (2.5, "2.5 minutes"), ("²", "² minutes")),
    ],
)
def test_durations(minutes: Json, words: str) -> None:
    """Minutes are said as people say them."""
    assert duration(minutes) == words


@pytest.mark.parametrize(
    ("days", "words"),
    [(0, "today"), ("1", "tomorrow"), (3, "in 3 days"), ("a few", "in a few days")],
)
def test_days_ahead(days: Json, words: str) -> None:
    """A number of days is said as people say it."""
    assert days_ahead(days) == words


def test_moments_are_utc() -> None:
    """A moment is told in UTC, whatever the clock it was read from."""
    assert moment(NOW.astimezone(timezone(timedelta(hours=9)))) == "20 November 2026, 14:05 UTC"
