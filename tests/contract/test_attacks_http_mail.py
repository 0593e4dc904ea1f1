"""Bad input and attacks over HTTP, 32 to 54: recipients, headers and content of an email."""

import pytest

from tests.contract.bodies import TO, attachment, otp, raw_html
from tests.contract.client import Api
from tests.contract.service import Service


def test_32_51_recipients_counting_duplicates(live: Api) -> None:
    """32: 51 repetitions of one recipient are refused, 50 are accepted."""
    assert live.send(otp(to=[TO] * 50)).status == 200
    assert live.send(otp(to=[TO] * 51)).code == "recipient_limit_exceeded"


def test_33_an_empty_to(live: Api) -> None:
    """33: `to: []` is 422."""
    assert live.send(otp(to=[])).errors == {"to": "too_short"}


INVALID_ADDRESSES = {
    "34_crlf_list_or_display_name": [
        "a@b.example\r\nBcc: x@y.example",
        "a@b.example\n",
        "a@b.example,c@d.example",
        "a@b.example;c@d.example",
        "A <a@b.example>",
        "<a@b.example>",
        " a@b.example",
        "a@b.example ",
        "a b@c.example",
    ],
    "35_a_local_part_beyond_ascii": [
        "ü@x.example",
        "a\u200b@x.example",
        "\u0430da@customer.example",
    ],
    "37_quoted_literal_or_localhost": [
        '"a b"@x.example',
        '"a"@x.example',
        "a@[192.0.2.1]",
        "a@[IPv6:2001:db8::1]",
        "a@192.0.2.1",
        "a@localhost",
        "a@x.localhost",
        "root",
        "a@com",
    ],
    "38_too_long": [
        "a" * 65 + "@x.example",
        "a@" + "b" * 64 + ".example",
        "a@" + "b." * 130 + "example",
        "a@" + "é" * 100_000 + ".example",
    ],
    "39_nxdomain_or_no_mx": ["a@gone.invalid", "a@nomx.example"],
    "40_null_mx": ["a@nullmx.example"],
    "syntax": [
        "",
        "@",
        "a@",
        "@x.example",
        "a..b@x.example",
        ".a@x.example",
        "a@x..example",
        "a@-x.example",
        "a@x-.example",
        "a@x.example.",
        "a@x_y.example",
        "a@@x.example",
        "\x00",
    ],
}


@pytest.mark.parametrize(
    "address",
    [
        pytest.param(a, id=f"{name}-{n}")
        for name, group in INVALID_ADDRESSES.items()
        for n, a in enumerate(group)
    ],
)
def test_34_to_40_invalid_recipients(live: Api, address: str) -> None:
    """34, 35, 37 to 40: each address is 400 invalid_recipient, with a reason."""
    response = live.send(otp(to=[TO, address]))
    assert (response.status, response.code) == (400, "invalid_recipient")
    (listed,) = response.error["details"]["recipients"]
    assert address.startswith(listed["address"])
    assert listed["address"] == address or 310 < len(listed["address"].encode()) <= 320
    assert listed["reason"]


def test_34_all_invalid_recipients_are_listed(live: Api) -> None:
    """34, notes: details.recipients lists each invalid recipient with its reason."""
    invalid = ["a@gone.invalid", "b@nomx.example", "c@nullmx.example"]
    response = live.send(otp(to=invalid[0], cc=[TO, invalid[1]], bcc=invalid[2:]))
    assert {r["address"] for r in response.error["details"]["recipients"]} == set(invalid)
    assert len({r["reason"] for r in response.error["details"]["recipients"]}) == 3


def test_34_syntax_errors_are_listed_before_the_dns_is_asked(live: Api) -> None:
    """34, notes: with a syntax error, details.recipients lists the syntax errors only."""
    response = live.send(otp(to=["a@gone.invalid", "nobody"], cc=[TO, "x@[127.0.0.1]"]))
    assert response.code == "invalid_recipient"
    assert [r["address"] for r in response.error["details"]["recipients"]] == [
        "nobody",
        "x@[127.0.0.1]",
    ]


@pytest.mark.parametrize(
    ("address", "stored"),
    [
        ("a@BÜCHER.example", "a@xn--bcher-kva.example"),
        ("a@straße.example", "a@xn--strae-oqa.example"),
        ("Ada@Customer.EXAMPLE", "Ada@customer.example"),
    ],
)
def test_36_international_domains(live: Api, address: str, stored: str) -> None:
    """36: a domain is stored as lower-case A-labels, the local part as written."""
    sent = live.send(otp(to=address))
    assert live.get(sent.json["messageId"]).json["recipientEmail"] == stored


def test_38_a_local_part_of_64_octets(live: Api) -> None:
    """38: a local part has at most 64 octets."""
    assert live.send(otp(to="a" * 64 + "@x.example")).status == 200


@pytest.mark.parametrize("domain", ["broken.example", "slow.example"])
def test_41_a_domain_without_an_answer_from_dns(live: Api, domain: str) -> None:
    """41: after SERVFAIL or a timeout the address is accepted."""
    assert live.send(otp(to=f"a@{domain}")).status == 200


def test_41_many_slow_domains_are_checked_in_time(live: Api) -> None:
    """41, notes: the check ends within 2 s, and still reports an invalid address."""
    addresses = [f"a@{n}.slow.example" for n in range(15)]
    response = live.send(otp(to=[*addresses, "a@gone.invalid"]))
    assert [r["address"] for r in response.error["details"]["recipients"]] == ["a@gone.invalid"]


@pytest.mark.parametrize("spelling", ["GONE@customer.example", "Gone@CUSTOMER.example"])
def test_42_a_suppressed_address_in_another_case(service: Service, spelling: str) -> None:
    """42: a suppressed address is 400 recipient_suppressed in upper and lower case."""
    account = service.account()
    service.suppress(account, "gone@customer.example")
    response = Api(service.key(account)).send(otp(to=[TO, spelling]))
    assert response.code == "recipient_suppressed"
    assert response.error["details"]["recipients"] == [{"address": spelling, "reason": "bounced"}]


@pytest.mark.parametrize("break_", ["\r\n", "\r", "\n", "\x85", "\u2028", "\u2029", "\x0b"])
def test_43_line_breaks_in_headers(live: Api, break_: str) -> None:
    """43: CR, LF, NEL, U+2028 and U+2029 are 422 in subject, fromName, filename, contentId."""
    text = f"a{break_}Bcc: x@y.example"
    for field in ("subject", "fromName", "brandName"):
        assert live.send(otp(**{field: text})).errors == {field: "control_character"}
    file = attachment(filename=text)
    assert list(live.send(otp(attachments=[file])).errors) == ["attachments.0.filename"]
    file = attachment(inline=True, contentId=text)
    assert list(live.send(otp(attachments=[file])).errors) == ["attachments.0.contentId"]


def test_44_a_subject_of_emoji(live: Api) -> None:
    """44: a subject of 998 emoji is accepted, one of 999 is 422."""
    sent = live.send(raw_html(subject="🎉" * 998))
    assert live.get(sent.json["messageId"]).json["subject"] == "🎉" * 998
    assert live.send(raw_html(subject="🎉" * 999)).errors == {"subject": "too_long"}


def test_45_a_name_that_looks_like_an_address(service: Service, live: Api) -> None:
    """45: the fromName `x" <e@evil>,"` remains the display name of one address."""
    from email import message_from_bytes  # noqa: PLC0415
    from email.policy import SMTP  # noqa: PLC0415

    service.jobs()
    service.ses.mails.clear()
    live.send(otp(fromName='x" <e@evil.example>,"'))
    service.deliver()
    (mail,) = service.ses.mails
    (sender,) = message_from_bytes(mail["raw"], policy=SMTP)["From"].addresses
    assert sender.display_name == 'x" <e@evil.example>,"'
    assert sender.addr_spec == mail["FromEmailAddress"]


@pytest.mark.parametrize("override", "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069")
def test_46_direction_overrides(live: Api, override: str) -> None:
    """46: bidirectional overrides are 422 in fromName and filename."""
    assert live.send(otp(fromName=f"a{override}b")).errors == {"fromName": "control_character"}
    file = attachment(filename=f"gpj{override}.pdf")
    assert list(live.send(otp(attachments=[file])).errors) == ["attachments.0.filename"]


def test_47_an_unverified_from(live: Api) -> None:
    """47: an unverified `from` on a paid plan is 403 no_verified_sender, which names it."""
    response = live.send(otp(**{"from": "ceo@bank.example"}))
    assert (response.status, response.code) == (403, "no_verified_sender")
    assert response.error["details"] == {"from": "ceo@bank.example"}


@pytest.mark.parametrize("key", ["", "k" * 257])
def test_48_an_empty_or_over_long_idempotency_key(live: Api, key: str) -> None:
    """48: an Idempotency-Key of 0 or 257 bytes is 422."""
    assert live.send(otp(), idempotency_key=key).errors == {"Idempotency-Key": "invalid_header"}


def test_49_a_script_in_a_variable(live: Api) -> None:
    """49: a `<script>` is escaped in the body, and is plain text in the subject."""
    script = "<script>alert(1)</script>"
    shown = live.preview("otp", {"variables": {"app_name": script}}).json
    assert script not in shown["html"]
    assert "&lt;script&gt;" in shown["html"]
    assert shown["subject"] == f"Your {script} code"


@pytest.mark.parametrize(
    "text", ["{{7*7}}", "{{x.__class__}}", "{% for a in b %}", "{{ otp_code }}"]
)
def test_50_template_syntax_in_a_value(live: Api, text: str) -> None:
    """50: template syntax in a value is not rendered, because there is only one pass."""
    shown = live.preview("otp", {"variables": {"app_name": text}}).json
    assert shown["subject"] == f"Your {text} code"
    assert text in shown["html"]


def test_51_a_loop_over_a_large_list(service: Service) -> None:
    """51: a loop whose output would be too large is 422, before anything is queued."""
    account = service.account()
    html = "{% for row in rows %}{{ row.text }}{{ row.text }}{% endfor %}"
    template = service.template(account, html)
    rows = [{"text": "x" * 200}] * 900
    response = Api(service.key(account)).send(
        {"to": TO, "templateId": template, "variables": {"rows": rows}}
    )
    assert response.status == 200
    bomb = service.template(account, html.replace("{{ row.text }}", "{{ row.text }}" * 50))
    response = Api(service.key(account)).send(
        {"to": TO, "templateId": bomb, "variables": {"rows": rows}}
    )
    assert response.errors == {"variables": "too_large"}


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "java\nscript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "//evil.example",
        "/path",
        "https:evil.example",
        "https://",
        "ftp://x.example",
        "https://x.example/a b",
        " https://x.example",
        "mailto:a@b.example",
    ],
)
def test_52_urls_with_other_schemes(live: Api, url: str) -> None:
    """52: in a *_url variable everything except http(s) is 422, such as `javascript:`."""
    body = otp(starterTemplate="magic_link", variables={"login_url": url})
    assert live.send(body).errors == {"variables.login_url": "invalid_url"}


@pytest.mark.parametrize(
    "url", ["http://x.example/a.png", "javascript:x", "data:image/png;base64,AA", "//x.example/a"]
)
def test_53_logos_are_https_only(live: Api, url: str) -> None:
    """53: a logoUrl must begin with https:."""
    assert live.send(otp(logoUrl=url)).errors == {"logoUrl": "invalid_url"}


def test_53_a_logo_is_never_fetched(service: Service, live: Api) -> None:
    """53: an internal URL is written into the email, escaped, and never requested."""
    service.jobs()
    service.ses.mails.clear()
    live.send(raw_html())
    url = 'https://169.254.169.254/latest?a="><img>&b'
    assert live.send(otp(logoUrl=url)).status == 200
    assert service.deliver() == []
    raw = service.ses.mails[-1]["raw"].replace(b"=\r\n", b"")
    assert b"169.254.169.254" in raw
    assert b'"><img>' not in raw


def test_54_a_rendered_email_over_a_megabyte(service: Service) -> None:
    """54: values that make an email of more than 1 MB are 422, before anything is queued."""
    account = service.account()
    template = service.template(account, "<p>{{ text }}</p>" * 6)
    body = {"to": TO, "templateId": template, "variables": {"text": '"' * 100_000}}
    assert Api(service.key(account)).send(body).errors == {"variables": "too_large"}
    assert service.messages(account) == []
