"""Records of emails that an account does not keep for ever."""

from datetime import timedelta

from pillarbox import wiring
from pillarbox.application.delivery.ports import SweepStep, SweepTask
from pillarbox.domain.accounts.key import SCOPES
from tests.contract.bodies import raw_html
from tests.contract.client import Api
from tests.contract.mcp import McpClient
from tests.contract.service import Service

TO = "old@customer.example"


def test_old_records_are_deleted_and_figures_stay(service: Service) -> None:
    """Lists, totals and searches have the young ones only, from the moment of the deletion on."""
    account_id = service.account()
    api = Api(service.key(account_id, scopes=SCOPES))
    now = wiring.utc_now()
    ids = []
    for days in (120, 100, 1):
        with service.at(now - timedelta(days=days)):
            sent = api.send(raw_html(to=TO, tags={"order": "7"}))
            assert sent.status == 200
            ids.append(str(sent.json["messageId"]))
            service.deliver()
    service.count(account_id, *ids)
    window = {
        "from": (now - timedelta(days=130)).isoformat(),
        "to": now.isoformat(),
        "bucket": "day",
    }
    figures = api.raw("GET", "/analytics", query=window).json
    assert api.raw("GET", "/emails").json["total"] == 3
    for days, status in ((89, 422), (3651, 422), (90, 200)):
        answer = api.raw("PATCH", "/account", {"recordDays": days})
        assert answer.status == status, answer.text
    assert answer.json["recordDays"] == 90
    entries = api.raw("GET", "/account/log").json["items"]
    changed = next(one for one in entries if one["action"] == "records.changed")
    assert changed["changes"] == [{"name": "recordDays", "before": 0, "after": 90}]
    task = SweepTask(account_id=account_id, pass_at=now.replace(hour=12), step=SweepStep.DOMAINS)
    wiring.services().sweep.run(task, lambda: True)
    for query in ({}, {"recipient": TO}, {"tag": "order:7"}, {"sortBy": "updated_at"}):
        page = api.raw("GET", "/emails", query=query).json
        found = [item["messageId"] for item in page["items"]]
        assert (found, page["total"]) == (ids[2:], 1), query
    assert McpClient(api).data("list_emails", {"recipient": TO})["total"] == 1
    assert [api.get(each).status for each in ids] == [404, 404, 200]
    assert api.raw("GET", "/analytics", query=window).json == figures
