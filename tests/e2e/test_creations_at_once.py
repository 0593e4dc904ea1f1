"""Requests at the same time make each object once, on the local stack."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from pillarbox.adapters.management_api import HttpApiProbe
from pillarbox.domain.accounts.key import OPERATOR_SCOPES, SCOPES
from pillarbox.domain.ids import new_token
from tests.stack import operate

pytestmark = pytest.mark.stack

_REQUESTS = 3
_SCOPES = sorted(SCOPES | OPERATOR_SCOPES)


@pytest.fixture(scope="module")
def probe(stack: dict[str, Any]) -> HttpApiProbe:
    return HttpApiProbe(stack["base_url"])


@pytest.fixture(scope="module")
def key(stack: dict[str, Any]) -> str:
    assert stack
    made = operate("account", "create", "--name", "Operator", "--plan", "enterprise")
    operate("account", "update", made["id"], "--operates")
    scopes = [part for scope in _SCOPES for part in ("--scope", scope)]
    made = operate(
        *("key", "create", "--account", made["id"], "--name", "apply", "--preset", "custom"),
        *scopes,
    )
    text: str = made["key"]
    return text


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/operator/accounts", {"name": "{}", "plan": "free"}),
        ("/v1/templates", {"name": "{}", "category": "billing"}),
        ("/v1/webhooks", {"url": "http://127.0.0.1:9/{}", "types": ["*"]}),
        ("/v1/keys", {"name": "{}", "preset": "custom", "scopes": ["templates:read"]}),
    ],
)
def test_of_equal_creations_one_is_done(
    stack: dict[str, Any], probe: HttpApiProbe, key: str, path: str, body: dict[str, Any]
) -> None:
    """Of three requests at once one creates; the others learn of it, or are to try again.

    After that it may be made beside the one that a request names, and without the header. Each
    request at once starts a process of the function.
    """
    sent = json.loads(json.dumps(body).replace("{}", new_token(8)))
    of = {} if "operator" in path else {"X-Account": stack["accounts"]["live"]}

    def create(match: dict[str, str]) -> tuple[int, Any]:
        return probe.request("POST", path, key=key, body=sent, headers=of | match)

    alone, barrier = {"If-None-Match": "*"}, Barrier(_REQUESTS)

    def create_at_once(_: int) -> tuple[int, Any]:
        barrier.wait()
        return create(alone)

    with ThreadPoolExecutor(_REQUESTS) as pool:
        answers = [*pool.map(create_at_once, range(_REQUESTS))]
    statuses = Counter(status for status, _ in answers)
    assert statuses[201] == 1, answers
    assert set(statuses) <= {201, 409, 503}
    (first,) = (made["id"] for status, made in answers if status == 201)
    status, refused = create(alone)
    assert (status, refused["error"]["details"]["ids"]) == (409, [first])
    status, second = create({"If-Match": first})
    assert status == 201
    status, refused = create({"If-Match": f'"{first}"'})
    assert refused["error"]["details"]["ids"] == [second["id"]]
    assert create({})[0] == 201
