"""The starter templates: their data, without rendering."""

from hypothesis import given
from hypothesis import strategies as st

from pillarbox.domain.templates.template import VariableKind, subject_references
from pillarbox.rendering.starters import SLUGS, STARTERS, all_starters, find_starter
from tests.loops import for_each
from tools.assemble_starters import assemble

#: Contract section 2.6, row by row.
CONTRACT = [
    (
        "otp",
        "One-time passcode (six-digit code, short expiry)",
        "otp_code, expiry_minutes, app_name",
    ),
    ("magic_link", "Magic sign-in link (single use)", "login_url, expiry_minutes"),
    ("email_verify", "Email verification", "verify_url"),
    ("welcome", "Welcome email with a three-step checklist", "name, app_name"),
    ("password_reset", "Password reset link", "reset_url, expiry_minutes"),
    ("password_changed", "Password changed confirmation", "name, support_email"),
    ("team_invite", "Team invitation", "inviter_name, team_name, accept_url"),
    ("trial_ending", "Trial ending reminder", "days_left, upgrade_url"),
    ("payment_receipt", "Payment receipt", "amount, currency, invoice_id"),
    ("security_alert", "Security alert", "event, ip, at"),
]


def test_table_of_the_contract() -> None:
    """Slugs, names, variables and their order are those of the contract's table."""
    table = [(s.slug, s.name, ", ".join(v.name for v in s.variables)) for s in all_starters()]
    assert table == CONTRACT


def test_required_variables() -> None:
    required = {v.name for s in all_starters() for v in s.variables if v.required}
    assert required == {
        *("otp_code", "login_url", "verify_url", "reset_url", "accept_url", "upgrade_url"),
        *("amount", "currency", "invoice_id", "team_name", "inviter_name", "days_left"),
    }


def test_kinds() -> None:
    """URL variables are web addresses, support_email is a contact, all others are text."""
    for starter in all_starters():
        for variable in starter.variables:
            expected = VariableKind.TEXT
            if variable.name.endswith("_url"):
                expected = VariableKind.WEB_URL
            if variable.name == "support_email":
                expected = VariableKind.CONTACT
            assert variable.kind is expected


def test_subjects_refer_to_own_variables() -> None:
    for starter in all_starters():
        references = set(subject_references(starter.subject))
        assert {"brand_name", "app_name"} & references
        assert references - {"brand_name"} <= {v.name for v in starter.variables}
        assert starter.subject.count("{{") == len(subject_references(starter.subject))


def test_codes_stay_out_of_subjects() -> None:
    """No subject shows a code or a link, because the history keeps subjects."""
    for starter in all_starters():
        secrets = {"otp_code", *(v.name for v in starter.variables if v.name.endswith("_url"))}
        assert not secrets & set(subject_references(starter.subject))


def test_default_expiry() -> None:
    """A template with the variable expiry_minutes has a default; email_verify has one to itself."""
    for starter in all_starters():
        expires = any(v.name == "expiry_minutes" for v in starter.variables)
        assert (starter.expiry_minutes is not None) is (expires or starter.slug == "email_verify")


@for_each("slug", ["", "../otp", "otp/", "OTP", "__class__", "otp\0", "otp ", ".", "layout.html"])
def test_hostile_slugs(slug: str) -> None:
    """A text that is not a slug, such as a path, finds no starter."""
    assert find_starter(slug) is None


@given(st.text())
def test_any_slug(slug: str) -> None:
    assert (find_starter(slug) is not None) is (slug in SLUGS)


@for_each("slug", SLUGS)
def test_assembled(slug: str) -> None:
    """Each stored template equals its assembly; otherwise run tools.assemble_starters."""
    assert (STARTERS / slug / "mail.html").read_text(encoding="utf-8") == assemble(slug)
