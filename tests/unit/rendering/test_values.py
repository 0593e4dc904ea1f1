"""The values of starter templates: kinds, fallbacks, samples and wording."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.domain.accounts.account import Brand
from pillarbox.domain.errors import Json, ValidationFailed
from pillarbox.domain.templates.template import StarterTemplate
from pillarbox.rendering.starters import all_starters, get_starter
from pillarbox.rendering.values import (
    check_logo_url,
    contact_url,
    currency_code,
    days_ahead,
    duration,
    format_date,
    format_time,
    grouped,
    starter_values,
    values_or_samples,
)
from tests.loops import for_each
from tests.refusals import faults

LEFT_OUT = "left out"
NOW = datetime(2026, 11, 20, 14, 5, tzinfo=UTC)


def values(slug: str, given: dict[str, Json], **brand: str) -> dict[str, Json]:
    """Return all values of a starter for a brand with these parts."""
    contact, whole = "help@shop.example", Brand(name="Shop", **brand)
    return starter_values(get_starter(slug), given, brand=whole, contact=contact, now=NOW)


def errors(slug: str, given: dict[str, Json]) -> list[tuple[str, str]]:
    return faults(values, slug, given)


@pytest.mark.parametrize(
    ("slug", "name"),
    [(s.slug, v.name) for s in all_starters() for v in s.variables if v.required],
)
@pytest.mark.parametrize("missing", [LEFT_OUT, None, "", " \n"])
def test_missing_required_variable(slug: str, name: str, missing: Json) -> None:
    """A 422 names each required variable that is left out, null or blank."""
    given: dict[str, Json] = {v.name: v.sample for v in get_starter(slug).variables}
    del given[name]
    if missing is not LEFT_OUT:
        given[name] = missing
    assert errors(slug, given) == [(f"variables.{name}", "missing_variable")]


@for_each("starter", all_starters())
def test_all_other_variables_have_a_default(starter: StarterTemplate) -> None:
    required: dict[str, Json] = {v.name: v.sample for v in starter.variables if v.required}
    assert values(starter.slug, required).keys() >= {v.name for v in starter.variables}


def test_all_errors_at_once() -> None:
    """A 422 lists every error of the variables, in the template's order."""
    assert errors("team_invite", {"inviter_name": ["x"], "accept_url": "javascript:alert(1)"}) == [
        ("variables.inviter_name", "invalid_type"),
        ("variables.team_name", "missing_variable"),
        ("variables.accept_url", "invalid_url"),
    ]


def test_fallbacks() -> None:
    assert values("otp", {"otp_code": 123456}) == {
        "otp_code": 123456,
        "expiry_minutes": 10,
        "app_name": "Shop",
    }
    assert values("welcome", {}) == {
        "name": "there",
        "app_name": "Shop",
        "support_email": "help@shop.example",
    }
    assert values("password_changed", {"name": ""}) == {
        "name": "there",
        "support_email": "help@shop.example",
    }
    assert values("security_alert", {"ip": None}) == {
        "event": "Unusual activity on your account",
        "ip": "Not recorded",
        "at": "20 November 2026, 14:05 UTC",
    }


def test_optional_variables() -> None:
    """What a starter can show besides is the request's, else the brand's, else left out."""
    brand = {
        "support_email": "https://shop.example/help",
        "company_address": "1 Quay Street",
        "action_url": "https://shop.example",
    }
    assert brand.items() <= values("welcome", {}, **brand).items()
    own: dict[str, Json] = {name: f"https://own.example/{name}" for name in brand}
    assert own.items() <= values("welcome", own, **brand).items()
    assert values("email_verify", {"verify_url": "https://x.example"}, **brand) == {
        "verify_url": "https://x.example",
        "company_address": "1 Quay Street",
    }
    receipt: dict[str, Json] = {"amount": 1, "currency": "EUR", "invoice_id": 7}
    assert "action_url" not in values("payment_receipt", receipt, **brand)


def test_lines() -> None:
    """A line is a text, or has a description and perhaps an amount; there are at most 100."""
    right: Json = ["Seats", {"description": 5}, {"description": "VAT", "amount": 7.82}]
    assert values("welcome", {"lines": right})["lines"] == [
        {"number": 1, "description": "Seats", "amount": ""},
        {"number": 2, "description": 5, "amount": ""},
        {"number": 3, "description": "VAT", "amount": 7.82},
    ]
    assert values("welcome", {"lines": []})["lines"] == []
    values("welcome", {"lines": ["x"] * 100})
    wrong: list[Json] = ["x", {}, ["x"] * 101, [True], [[]], [{"amount": 1}]]
    wrong += [{"description": None}], [{"description": "x", "price": 1}]
    for lines in wrong:
        assert errors("welcome", {"lines": lines}) == [("variables.lines", "invalid_type")]


def test_a_missing_value_is_told_with_what_the_starter_takes() -> None:
    with pytest.raises(ValidationFailed) as failed:
        values("trial_ending", {"days_left": 3})
    assert failed.value.errors[0].message == (
        "the template needs this value; trial_ending needs days_left, upgrade_url,"
        " and may have lines, support_email, company_address"
    )


def test_a_misspelt_variable() -> None:
    """A name that is almost that of a variable without a value is refused; others are ignored."""
    given: dict[str, Json] = {"verify_ulr": [{}], "x": 1}
    with pytest.raises(ValidationFailed) as failed:
        values("email_verify", given)
    assert ("variables.verify_ulr", "unknown_variable") in [
        (error.field, error.code) for error in failed.value.errors
    ]
    assert "did you mean verify_url?" in str([error.message for error in failed.value.errors])
    link: Json = "https://x.example"
    assert values("email_verify", given | {"verify_url": link})["verify_url"] == link
    with pytest.raises(ValidationFailed, match="did you mean expiry_minutes"):
        values("otp", {"otp_code": "1", "expiry_minute": 5})
    with pytest.raises(ValidationFailed, match="did you mean company_address"):
        values("otp", {"otp_code": "1", "company_adress": "1 Quay Street"})
    assert "company_address" not in values("otp", {"otp_code": "1", "company": "Shop"})


@for_each("value", [True, False, [], ["a"], {}, {"a": 1}])
def test_kinds_of_text(value: Json) -> None:
    """A text variable refuses a boolean, a list or an object."""
    assert errors("otp", {"otp_code": value}) == [("variables.otp_code", "invalid_type")]


@pytest.mark.parametrize("value", ["K7-QX", 482913, 9.5, 0])
def test_text_and_numbers(value: Json) -> None:
    assert values("otp", {"otp_code": value})["otp_code"] == value


@for_each(
    "url",
    [
        *("javascript:alert(1)", "data:text/html,x", "mailto:a@b.example", "ftp://x.example"),
        *("//x.example", "x.example", "https://", "https:///path", "https://:443", "http://["),
        *(" https://x.example", "https://x.example/a b", "https://x.example\n", "java\tscript:a"),
        *("https://x.example/\u202e", "https://x.example/\0", "https://x.example\\@y.example"),
    ],
)
def test_refused_urls(url: str) -> None:
    """A URL variable must be http: or https: with a host, without deceptive characters."""
    assert errors("email_verify", {"verify_url": url}) == [("variables.verify_url", "invalid_url")]


@pytest.mark.parametrize(
    "url", ["https://x.example", "HTTP://x.example:8080/a?b=c&d=%20#e", "https://bücher.example/ü"]
)
def test_accepted_urls(url: str) -> None:
    assert values("email_verify", {"verify_url": url}) == {"verify_url": url}


def test_url_that_is_not_a_string() -> None:
    assert errors("email_verify", {"verify_url": 5}) == [("variables.verify_url", "invalid_type")]


@pytest.mark.parametrize(
    ("contact", "link"),
    [
        ("help@x.example", "mailto:help@x.example"),
        ("mailto:help@x.example?subject=Hi", "mailto:help@x.example?subject=Hi"),
        ("https://x.example/help", "https://x.example/help"),
    ],
)
def test_contacts(contact: str, link: str) -> None:
    assert values("password_changed", {"support_email": contact})["support_email"] == contact
    assert contact_url(contact) == link


@for_each(
    "contact", ["help", "javascript:x@y", "mailto:", "mailto:x", "a@b@c", "a b@c.example", "x@y\n"]
)
def test_refused_contacts(contact: str) -> None:
    """A contact that is neither an address nor a web or mailto: URL is refused."""
    assert errors("password_changed", {"support_email": contact}) == [
        ("variables.support_email", "invalid_url")
    ]


@for_each("slug", [s.slug for s in all_starters()])
def test_preview_fills_from_samples(slug: str) -> None:
    template = get_starter(slug)
    samples = {v.name: v.sample for v in template.variables}
    assert values_or_samples(template, {}) == samples
    assert values_or_samples(template, dict(samples)) == samples
    assert samples.items() <= values(slug, dict(samples)).items()


def test_preview_checks_kinds() -> None:
    with pytest.raises(ValidationFailed, match="verify_url"):
        values_or_samples(get_starter("email_verify"), {"verify_url": "javascript:alert(1)"})


def test_logo_url() -> None:
    """A logo must be https: with a host; internal addresses pass, because no logo is fetched."""
    check_logo_url("https://x.example/logo.png")
    check_logo_url("https://169.254.169.254/latest")
    for url in ("http://x.example/l.png", "data:image/png;base64,AA", "https://", "", '"><img>'):
        assert faults(check_logo_url, url) == [("logoUrl", "invalid_url")]


@given(st.text())
def test_any_url(url: str) -> None:
    """Any text is accepted or refused as a URL, and an accepted one starts with its scheme."""
    try:
        values("email_verify", {"verify_url": url})
    except ValidationFailed:
        return
    assert url.lower().startswith(("http://", "https://"))


@for_each(
    ("minutes", "text"),
    [
        *((1, "1 minute"), ("10", "10 minutes"), (0, "0 minutes"), (59, "59 minutes")),
        *((60, "1 hour"), ("90", "90 minutes"), (120, "2 hours"), (1440, "24 hours")),
        *((2880, "2 days"), ("a few", "a few minutes"), (2.5, "2.5 minutes"), ("²", "² minutes")),
    ],
)
def test_durations(minutes: Json, text: str) -> None:
    assert duration(minutes) == text


@pytest.mark.parametrize(
    ("days", "text"),
    [(0, "today"), ("1", "tomorrow"), (3, "in 3 days"), ("a few", "in a few days")],
)
def test_days_ahead(days: Json, text: str) -> None:
    assert days_ahead(days) == text


def test_times_are_utc() -> None:
    assert (
        format_time(NOW.astimezone(timezone(timedelta(hours=9)))) == "20 November 2026, 14:05 UTC"
    )


@for_each(
    ("amount", "shown"),
    [
        (49, "49"),
        (49.0, "49.00"),
        (1234.5, "1,234.50"),
        (1234.567, "1,234.567"),
        (-12500, "-12,500"),
        ("1234567.00", "1,234,567.00"),
        (" 4900 ", "4,900"),
        ("49.00", "49.00"),
        ("1.234", "1.234"),
        ("1.234,50", "1.234,50"),
        ("1234,50", "1234,50"),
        ("1,234.50", "1,234.50"),
        ("EUR 1234", "EUR 1234"),
        ("\u0661\u0662\u0663\u0664", "\u0661\u0662\u0663\u0664"),
        (1e300, "1e+300"),
        (10**20, "100000000000000000000"),
    ],
)
def test_amounts_are_grouped(amount: Json, shown: str) -> None:
    """A number gets groups of three digits; a text in another form stays as it is."""
    assert grouped(amount) == shown


@pytest.mark.parametrize(
    ("currency", "shown"),
    [("eur", "EUR"), (" usd", "USD"), ("EUR", "EUR"), ("kr.", "kr."), ("\u20ac", "\u20ac")],
)
def test_currency_codes_are_capital(currency: str, shown: str) -> None:
    assert currency_code(currency) == shown


def test_dates_are_in_utc() -> None:
    late = datetime(2026, 11, 20, 23, 30, tzinfo=timezone(-timedelta(hours=5)))
    assert format_date(late) == "21 November 2026"
