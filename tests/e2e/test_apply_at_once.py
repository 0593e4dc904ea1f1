"""Programs that run three times at the same time make each object once, on the local stack."""

import json
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from time import sleep
from typing import Any

import pytest

from admin.aws.provisioning import LocalFiles, ValueStores
from admin.use_cases.provision_file import read_provision_file
from admin.use_cases.provisioning import Choices, Provisioning
from pillarbox.adapters.management_api import HttpApiProbe, HttpManagementApi
from pillarbox.domain.accounts.key import OPERATOR_SCOPES, SCOPES
from pillarbox.domain.ids import new_token
from tests.stack import operate

pytestmark = pytest.mark.stack

_RUNS = 3
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


def at_once(run: Callable[[int], Any], count: int = _RUNS) -> list[Any]:
    """Run something several times, each in a thread, all from the same moment."""
    barrier = Barrier(count)

    def started(number: int) -> Any:
        barrier.wait()
        return run(number)

    with ThreadPoolExecutor(count) as pool:
        return [*pool.map(started, range(count))]


def test_three_runs_of_apply_make_each_object_once(
    probe: HttpApiProbe, key: str, tmp_path: Path
) -> None:
    """None fails, there is one of each, the stored values work, and a fourth run finds nothing."""
    shop = f"shop{new_token(6)}"
    (tmp_path / "a.html").write_text("<p>Hello {{ name }}</p>")
    (tmp_path / "a.csv").write_text("address\nada@customer.example\n")
    content = read_provision_file(
        {
            "version": 1,
            "accounts": [
                {
                    "name": shop,
                    "plan": "standard",
                    "domains": [{"name": f"{shop}.example"}],
                    "templates": [
                        {"name": name, "subject": "Hi", "file": "a.html", "category": "billing"}
                        for name in ("Receipt", "Reminder")
                    ],
                    "webhooks": [
                        {"url": "http://127.0.0.1:9/", "types": ["*"], "secretTo": "file:hook"}
                    ],
                    "keys": [
                        {
                            "name": name,
                            "preset": "custom",
                            "scopes": ["templates:read"],
                            "valueTo": f"file:{name}",
                        }
                        for name in ("web", "job")
                    ],
                    "suppressions": {"file": "a.csv"},
                }
            ],
        }
    )
    # A service that is busy asks for another try; the command waits ten seconds before it.
    api = HttpManagementApi(probe, key, sleep=lambda _: sleep(0.5), tries=100)

    def apply(_: int) -> list[str]:
        provisioning = Provisioning(
            api=api, values=ValueStores(tmp_path, NotImplemented), files=LocalFiles(tmp_path)
        )
        steps = provisioning.run(content, Choices())
        return [str(step) for step in steps if step.changes]

    at_once(apply)
    (account,) = api.call("GET", f"/v1/operator/accounts?search={shop}")["items"]
    lists = ("domains", "templates/drafts", "templates", "webhooks", "keys", "suppressions")
    items = {one: api.call("GET", f"/v1/{one}", account=account["id"])["items"] for one in lists}
    assert [len(found) for found in items.values()] == [1, 2, 2, 1, 2, 1]
    for name in ("web", "job"):
        text = (tmp_path / name).read_text().strip()
        assert probe.request("GET", "/v1/me", key=text)[0] == 200
    assert (tmp_path / "hook").read_text().startswith("whsec_")
    assert apply(0) == []


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
    """Of six requests at once one creates; the others learn of it, or are to try again.

    After that it may be made beside the one that a request names, and without the header. Each
    request at once starts a process of the function.
    """
    sent = json.loads(json.dumps(body).replace("{}", new_token(8)))
    of = {} if "operator" in path else {"X-Account": stack["accounts"]["live"]}

    def create(match: dict[str, str]) -> tuple[int, Any]:
        return probe.request("POST", path, key=key, body=sent, headers=of | match)

    alone = {"If-None-Match": "*"}
    answers = at_once(lambda _: create(alone), 6)
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
