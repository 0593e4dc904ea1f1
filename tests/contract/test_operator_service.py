"""What operators see of the whole service: rates of all accounts, queues and checks."""

import json
import re
from datetime import timedelta
from typing import Any
from unittest import mock

import boto3
import pytest

from local import template
from pillarbox import wiring
from pillarbox.adapters.dynamodb.records import message_item
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.errors import Unavailable
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.message import Event, EventKind
from pillarbox.wiring import services
from tests.contract.client import Api
from tests.contract.service import Service
from tests.contract.test_operator_routes import send
from tests.fakes.builders import message


def store(account_id: str, hours_ago: float, *kinds: EventKind) -> None:
    """Store an email of an account for each kind, with an event of this kind."""
    at = wiring.utc_now() - timedelta(hours=hours_ago)
    for kind in kinds:
        accepted = message(account_id, new_id(at))
        services().table.put(message_item(accepted.with_events([Event(kind=kind, at=at)])))


def test_the_rates_of_all_accounts(operator: Api) -> None:
    """Sums of all accounts, and those with the most emails, bounces or complaints."""
    names = ("Busy", "Bouncing", "Complained", "Silent")
    by_name = {name: services().accounts.create(name, Plan.FREE).account_id for name in names}

    def rates(**query: str) -> dict[str, Any]:
        result: dict[str, Any] = operator.raw("GET", "/operator/rates", query=query).json
        return result

    before = rates()["allAccounts"]
    store(by_name["Busy"], 1, *[EventKind.DELIVERED] * 5, EventKind.BOUNCED)
    store(by_name["Bouncing"], 2, EventKind.DELIVERED, *[EventKind.BOUNCED] * 3, EventKind.FAILED)
    store(by_name["Bouncing"], 50, *[EventKind.BOUNCED] * 4)
    store(by_name["Complained"], 3, EventKind.COMPLAINED)
    services().accounts.suspend(by_name["Complained"], "complaints")
    day, week = rates(by="bounces"), rates(by="bounces", days="7")
    added = {
        name: day["allAccounts"][name] - before[name]
        for name in ("totalMessages", "sent", "bounced", "complained")
    }
    assert added == {"totalMessages": 12, "sent": 11, "bounced": 4, "complained": 1}
    found = {one["id"]: one for one in day["items"]}
    assert found.keys() >= {by_name["Busy"], by_name["Bouncing"]}
    assert by_name["Silent"] not in found
    assert day["total"] == len(found)
    assert [one["bounced"] for one in day["items"]] == sorted(
        (one["bounced"] for one in day["items"]), reverse=True
    )
    bouncing = found[by_name["Bouncing"]]
    assert (bouncing["sent"], bouncing["bounced"], bouncing["bounceRate"]) == (4, 3, 0.75)
    assert (bouncing["totalMessages"], bouncing["deliveryRate"]) == (5, 0.25)
    assert {one["id"]: one["bounced"] for one in week["items"]}[by_name["Bouncing"]] == 7
    (complained,) = (
        one for one in rates(by="complaints")["items"] if one["id"] == by_name["Complained"]
    )
    assert (complained["complaintRate"], bool(complained["suspendedAt"])) == (1.0, True)


def test_a_quiet_account_takes_few_reads(operator: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rates make four queries at most for an account that sent nothing lately."""
    quiet = services().accounts.create("Quiet", Plan.FREE).account_id
    store(quiet, 24 * 60, *[EventKind.DELIVERED] * 3)
    queried = list[str]()
    real = Table.query

    def query(self: Table, key: Any, *arguments: Any, **options: Any) -> Any:
        queried.append(key["pk"]["S"])
        return real(self, key, *arguments, **options)

    monkeypatch.setattr(Table, "query", query)
    assert operator.raw("GET", "/operator/rates").status == 200
    assert len([pk for pk in queried if pk.endswith(quiet)]) <= 4


def test_dead_letters_are_counted_and_moved(service: Service, operator: Api) -> None:
    """They wait in their queue again; a limit leaves the others, and urgent jobs share a queue.

    The operators' log says who moved how many.
    """
    while send(operator, "POST", "/queues/jobs/redrive", {}).json["moved"]:
        pass
    service.jobs()
    sqs = boto3.client("sqs")
    for number in range(3):
        sqs.send_message(QueueUrl=service.dead_url, MessageBody=f"dead {number}")

    def counts() -> dict[str, tuple[int, int | None]]:
        items = send(operator, "GET", "/queues").json["items"]
        return {one["name"]: (one["waiting"], one["dead"]) for one in items}

    before = counts()
    described = json.loads((template.ROOT / "docs/openapi.json").read_text())["components"]
    named = described["schemas"]["MovedLetters"]["properties"]["queue"]["description"]
    assert before.keys() == set(re.findall(r"`(\w+)`", named))
    assert (before["jobs"][1], before["urgent"][1]) == (3, None)
    moved = send(operator, "POST", "/queues/jobs/redrive", {"limit": 2})
    assert moved.json == {"queue": "jobs", "moved": 2}
    assert counts()["jobs"] == (before["jobs"][0] + 2, 1)
    services().queue_operations.redrive("sweep", 1)
    log = send(operator, "GET", "/queues").json["redrives"]
    shown = [(one["by"], one["queue"], one["moved"]) for one in log[:2]]
    assert shown == [("operator", "sweep", 0), ("root@pillarbox.example", "jobs", 2)]
    queues = type(services().queue_operations.queues)
    with mock.patch.object(queues, "move", side_effect=Unavailable("queue")):
        assert send(operator, "POST", "/queues/jobs/redrive", {}).code == "service_unavailable"
    failed = send(operator, "GET", "/queues").json["redrives"][0]
    assert failed["moved"] is None  # some may have moved
    sqs.purge_queue(QueueUrl=service.dead_url)
    sqs.purge_queue(QueueUrl=service.queue_url)


@pytest.mark.parametrize("queue", ["urgent", "mail", "%2F", "x" * 300])
def test_a_queue_without_dead_letters_is_refused(operator: Api, queue: str) -> None:
    """The name is wrong: 422, and no queue is touched."""
    response = send(operator, "POST", f"/queues/{queue}/redrive", {})
    assert (response.status, response.errors) == (422, {"queue": "unknown_queue"})


def test_the_checks_say_what_is_wrong(operator: Api) -> None:
    """Every check has a finding; a problem has a remedy, and one that fails stops no other."""
    items = send(operator, "GET", "/checks").json["items"]
    names = {one["check"] for one in items}
    assert names == {*("sending", "quota", "events"), *("strangers", "queues", "waiting", "limits")}
    (sending,) = (one for one in items if one["check"] == "sending")
    assert (sending["verdict"], sending["message"][:22]) == ("fail", "SES has paused sending")
    for one in items:
        assert (one["remedy"] is not None) is (one["verdict"] in {"warn", "fail"})
    provider = services().service_checks.provider
    with mock.patch.object(type(provider), "sending_status", side_effect=Unavailable("SES API")):
        items = send(operator, "GET", "/checks").json["items"]
    failed = {one["check"] for one in items if one["verdict"] == "fail"}
    assert failed >= {"sending", "quota", "limits"}
    assert names == {one["check"] for one in items}


def test_mail_that_waits_for_days_is_a_problem_in_each_queue(operator: Api) -> None:
    queues = services().queue_operations
    with mock.patch.object(type(queues.ages), "oldest_message_age", return_value=300_000.0):
        items = send(operator, "GET", "/checks").json["items"]
    late = [one for one in items if one["check"] == "waiting"]
    names = {one["message"].partition(":")[0]: one["verdict"] for one in late}
    assert names == dict.fromkeys(queues.urls, "fail")
    workers = {one["remedy"].rpartition(" ")[2].rstrip(".") for one in late}
    assert workers <= template.load()["Resources"].keys()


@pytest.mark.parametrize("queue", ["sweep", "urgent"])
def test_a_queue_may_have_lost_its_redrive_policy(operator: Api, queue: str) -> None:
    """By hand; the others are still shown, and the checks name it."""
    sqs = boto3.client("sqs")
    asked: Any = {"QueueUrl": services().queue_operations.urls[queue]}
    names: Any = ["RedrivePolicy"]
    kept: Any = sqs.get_queue_attributes(**asked, AttributeNames=names)["Attributes"]
    sqs.set_queue_attributes(**asked, Attributes={"RedrivePolicy": ""})
    items = send(operator, "GET", "/queues").json["items"]
    checks = send(operator, "GET", "/checks").json["items"]
    sqs.set_queue_attributes(**asked, Attributes=kept)
    assert {one["name"] for one in items if one["dead"] is None} == {"urgent", queue}
    (lost,) = (one for one in checks if (one["check"], one["verdict"]) == ("queues", "fail"))
    assert lost["message"].startswith(f"{queue}: it has no redrive policy")
