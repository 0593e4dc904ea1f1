"""Promise 9: no request gets a 5xx, or an error without the envelope.

Any octets are tested beside the parser of JSON, and each route with bodies of its own by
test_fuzz_document.py.
"""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pillarbox.http.mcp.tools import SCOPES
from tests.contract.bodies import TO, attachment
from tests.contract.client import Api
from tests.contract.service import Service
from tests.contract.test_http import check_envelope
from tests.fuzzing import SECONDS

pytestmark = pytest.mark.usefixtures("service")
fuzzing = settings(
    max_examples=1_000 if SECONDS else 50,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)

text = st.text(max_size=20)
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
address = st.sampled_from(
    [TO, "B@Ü.example", "a@gone.invalid", "a@nullmx.example", "a@broken.example", "@", ""]
) | text.map(lambda local: f"{local}@x.example")
file = st.fixed_dictionaries(
    {"filename": text, "contentType": st.sampled_from(["image/png", "x/y"]) | text},
    optional={
        "content": st.sampled_from(["", "TVo=", "YQ==", "YR==", "="]) | text,
        "inline": st.booleans() | junk,
        "contentId": text | st.none(),
    },
)
variables = st.dictionaries(
    st.sampled_from(["otp_code", "app_name", "expiry_minutes", "login_url", "name", "event", "at"])
    | text,
    st.sampled_from(["https://x.example", "{{ x }}", "\x00", "a\nb", 1e300, -1]) | junk,
    max_size=4,
)
URLS = ["https://x.example/a.png", "http://[::1", "https://[x", "//", "javascript:x"]
#: Each field is almost valid, and sometimes arbitrary.
near = st.fixed_dictionaries(
    {},
    optional={
        "to": address | st.lists(address, max_size=3),
        "starterTemplate": st.sampled_from(["otp", "welcome", "magic_link", "security_alert"]),
        "templateId": st.uuids().map(str) | text,
        "html": text,
        "variables": variables,
        "subject": text,
        "fromName": text,
        "from": address,
        "cc": st.lists(address, max_size=3),
        "bcc": st.lists(address, max_size=3),
        "replyTo": address,
        "brandName": text,
        "logoUrl": st.sampled_from(URLS) | text,
        "attachments": st.lists(file | st.just(attachment()), max_size=3),
    },
)
any_field = st.sampled_from(["to", "html", "variables", "attachments", "from", "x"]) | text
body = st.builds(
    lambda shaped, odd: shaped | odd, near, st.dictionaries(any_field, junk, max_size=1)
)


@pytest.fixture(scope="module")
def api(service: Service) -> Api:
    return service.live()


@given(sent=body | junk, key=st.none() | text)
@fuzzing
def test_no_body_gives_a_5xx(api: Api, sent: Any, key: str | None) -> None:
    """9: bodies that are almost valid, and any other JSON, are 200 or a 4xx in the envelope."""
    headers = {} if key is None else {"Idempotency-Key": key}
    response = api.raw("POST", "/emails", json.dumps(sent).encode(), headers)
    assert response.status < 500, response.text
    if response.status != 200:
        check_envelope(response)


@given(key=text, method=st.sampled_from(["GET", "POST", "PUT"]), path=st.text(max_size=10))
@fuzzing
def test_no_key_method_or_path_gives_a_5xx(key: str, method: str, path: str) -> None:
    """9: any key, method and path are a 4xx in the envelope."""
    response = Api(key).raw(method, f"/{path}", None)
    assert 400 <= response.status < 500
    check_envelope(response)


@given(
    tool=st.sampled_from([*SCOPES]),
    sent=junk
    | body
    | st.dictionaries(
        st.sampled_from(
            [
                *("dryRun", "idempotencyKey", "messages", "slug", "variables"),
                *("templateId", "messageId", "domain", "address", "limit", "from", "to", "status"),
            ]
        ),
        st.sampled_from(["", "otp", "\x00", "2026-01-01", TO, True, 1, 10**30]) | junk,
        max_size=3,
    ),
    more=st.dictionaries(st.sampled_from(["inputResponses", "requestState", "_meta"]), junk),
)
@fuzzing
def test_no_tool_call_gives_a_5xx(api: Api, tool: str, sent: Any, more: Any) -> None:
    """9: any arguments of any tool are a result, an error in a result, or a 4xx of the message."""
    call = {"name": tool, "arguments": sent} | more
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    response = api.raw("POST", "/mcp", json.dumps(message).encode())
    assert response.status in {200, 400}, response.text
    assert response.json["jsonrpc"] == "2.0"


@given(sent=junk | st.fixed_dictionaries({"jsonrpc": st.just("2.0"), "id": junk, "method": text}))
@fuzzing
def test_no_message_gives_a_5xx(api: Api, sent: Any) -> None:
    """9: any JSON value is a response of JSON-RPC."""
    response = api.raw("POST", "/mcp", json.dumps(sent).encode())
    assert response.status in {200, 202, 400, 404}, response.text
