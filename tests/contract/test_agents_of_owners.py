"""The emails of an agent's key that wait until an owner of the account releases them."""

from typing import Any

import pytest

from pillarbox import wiring
from pillarbox.domain.accounts.key import SCOPES, AgentSettings, Confirmation, Preset
from pillarbox.domain.sign_in.session import Role
from tests.contract.bodies import TO, attachment, otp, raw_html
from tests.contract.client import Api
from tests.contract.mcp import ELICITATION, McpClient
from tests.contract.operations import in_an_hour
from tests.contract.service import SENDER, Service, text_of


@pytest.fixture
def agent(account: str) -> Api:
    """A client with the key of an agent whose emails an owner releases."""
    settings = AgentSettings(recipients=("*",), confirmation=Confirmation.OWNER)
    keys = wiring.services().api_keys
    return Api(keys.issue_live(account, "bot", Preset.MARKETING, agent=settings).text)


@pytest.fixture
def owner(service: Service, account: str) -> Api:
    return Api(session=service.session(account, Role.OWNER, address="owner@shop.example"))


def post(api: Api, path: str, **body: Any) -> Any:
    return api.raw("POST", path, body or None)


def send_by_each_door(agent: Api) -> list[str]:
    """Send an email by each route that there is; return their ids."""
    theirs = {"from": SENDER, "to": TO, "subject": "s", "html": "<p>x</p>"}
    postmarks = {"From": SENDER, "To": TO, "Subject": "s", "TextBody": "x"}
    mcp = McpClient(agent)
    resend = Api(agent.key, "/resend").raw("POST", "/emails", theirs)
    postmark = Api(agent.key, "/postmark").raw("POST", "/email", postmarks)
    batch = post(agent, "/emails/batch", messages=[otp(), raw_html()]).json["results"]
    return [
        agent.send(raw_html(hold=False)).json["messageId"],
        *(result["messageId"] for result in batch),
        mcp.data("send_email", raw_html(subject="by MCP"))["messageId"],
        mcp.data("send_batch", {"messages": [otp()]})["results"][0]["messageId"],
        McpClient(agent, ELICITATION).data("send_email", raw_html(subject="asks"))["messageId"],
        resend.json["id"],
        postmark.json["MessageID"],
    ]


def test_an_email_by_any_door_waits_for_an_owner(service: Service, agent: Api) -> None:
    """It is accepted as held, the responses say so, and nothing leaves."""
    sent = send_by_each_door(agent)
    assert service.mailed() == []
    items = agent.raw("GET", "/emails").json["items"]
    assert {item["messageId"] for item in items} == {*sent}
    assert all(item["held"] and item["awaitsOwner"] for item in items)
    single = agent.send(otp()).json
    assert (single["status"], single["held"], single["awaitsOwner"]) == ("queued", True, True)
    answer = McpClient(agent).data("send_email", raw_html(subject="told"))
    assert "until an owner of the account releases it" in answer["message"]


def test_nobody_but_an_owner_releases_it(service: Service, account: str, agent: Api) -> None:
    """Neither the agent nor a key with every right nor a developer; a viewer has no right."""
    message = agent.send(otp()).json["messageId"]
    settings = AgentSettings(recipients=("*",), confirmation=Confirmation.OFF)
    everything = wiring.services().api_keys.issue_live(account, "all", Preset.CUSTOM, SCOPES)
    callers = {
        "agent": agent,
        "every right": Api(everything.text),
        "another agent": Api(service.key(account, agent=settings)),
        "developer": Api(session=service.session(account, Role.DEVELOPER, address="d@s.example")),
    }
    for name, caller in callers.items():
        assert post(caller, f"/emails/{message}/release").code == "confirmation_required", name
    viewer = Api(session=service.session(account, Role.VIEWER, address="v@s.example"))
    assert post(viewer, f"/emails/{message}/release").code == "scope_required"
    stranger = Api(session=service.session(service.account(), Role.OWNER, address="o@x.example"))
    assert post(stranger, f"/emails/{message}/release").code == "message_not_found"
    assert agent.get(message).json["awaitsOwner"] is True


def test_the_agent_has_no_way_around(service: Service, account: str, agent: Api) -> None:
    """It gives no email a time, before or after, releases no other one, and creates no key."""
    message = agent.send(otp()).json["messageId"]
    at = in_an_hour()
    change = {"scheduledAt": at}
    assert agent.raw("PATCH", f"/emails/{message}", change).code == "not_cancelable"
    theirs = Api(agent.key, "/resend")
    moved = theirs.raw("PATCH", f"/emails/{message}", {"scheduled_at": at})
    assert (moved.status, moved.json["name"]) == (422, "validation_error")
    for body in (otp(scheduledAt=at), otp(scheduledAt=at, hold=False)):
        assert agent.send(body).errors == {"scheduledAt": "not_allowed"}
    other = Api(service.key(account)).send(raw_html(hold=True)).json["messageId"]
    assert post(agent, f"/emails/{other}/release").code == "confirmation_required"
    created = post(agent, "/keys", name="child", preset="send")
    assert created.code == "scope_required"
    repeated = agent.send(otp(), idempotency_key="k"), agent.send(otp(), idempotency_key="k")
    assert repeated[0].text == repeated[1].text
    assert '"awaitsOwner":true' in repeated[0].text


def test_an_owner_reads_it_and_releases_it_once(service: Service, agent: Api, owner: Api) -> None:
    """The content is what leaves then; afterwards it is shown to nobody."""
    file = attachment(b"%PDF-1.7")
    sent = agent.send(raw_html(subject="Read me", html="<p>All of it</p>", attachments=[file]))
    path = f"/emails/{sent.json['messageId']}"
    content = owner.raw("GET", f"{path}/content").json
    assert (content["subject"], content["html"]) == ("Read me", "<p>All of it</p>")
    assert (content["text"], [one["bytes"] for one in content["attachments"]]) == ("All of it", [8])
    released = post(owner, f"{path}/release").json
    assert (released["held"], released["awaitsOwner"]) == (False, False)
    assert post(owner, f"{path}/release").status == 200
    (mail,) = service.mailed()
    assert "<p>All of it</p>" in text_of(mail, "html")
    assert owner.raw("GET", f"{path}/content").code == "message_not_found"
    assert owner.raw("GET", path).json["status"] == "sent"


def test_what_is_not_shown_is_not_released(agent: Api, owner: Api) -> None:
    """HTML or a text of more than 400,000 characters stays held; the text of the HTML is shown."""
    for field, length, status in (("html", 420_000, 403), ("text", 400_001, 403), ("html", 9, 200)):
        body = {"html": "<p>Hidden</p>", "text": "All fine"} | {field: "x" * length}
        path = f"/emails/{agent.send(raw_html(**body)).json['messageId']}"
        content = owner.raw("GET", f"{path}/content").json
        assert content["ownText"][:8] == body["text"][:8]
        assert content["text"][:6] == ("xxxxxx" if field == "html" else "Hidden")
        assert post(owner, f"{path}/release").status == status, field


def test_no_other_content_is_shown(service: Service, account: str, agent: Api, owner: Api) -> None:
    """Nobody else reads it, and an owner reads neither scheduled nor held emails of others."""
    waiting = agent.send(otp()).json["messageId"]
    developer = Api(session=service.session(account, Role.DEVELOPER, address="d@s.example"))
    path = f"/emails/{waiting}/content"
    assert developer.raw("GET", path).code == "scope_required"
    assert agent.raw("GET", path).code == "session_required"
    program = Api(service.key(account))
    for body in (raw_html(hold=True), raw_html(scheduledAt=in_an_hour()), raw_html()):
        message = program.send(body).json["messageId"]
        assert owner.raw("GET", f"/emails/{message}/content").code == "message_not_found"
    assert post(agent, f"/emails/{waiting}/cancel").json["status"] == "failed"
    assert owner.raw("GET", path).code == "message_not_found"


def test_everything_is_checked_again_at_the_release(
    service: Service, account: str, agent: Api, owner: Api
) -> None:
    """A released email fails if its key was revoked or its recipient suppressed meanwhile."""
    stopped, revoked = (agent.send(raw_html(to=to)).json["messageId"] for to in ("s@x.org", TO))
    service.suppress(account, "s@x.org")
    post(owner, f"/emails/{stopped}/release")
    assert service.deliver() == []
    wiring.services().api_keys.revoke(owner.get(revoked).json["keyId"])
    post(owner, f"/emails/{revoked}/release")
    assert service.mailed() == []
    codes = [owner.get(one).json["events"][-1]["code"] for one in (stopped, revoked)]
    assert codes == ["recipient_suppressed", "key_revoked"]


def test_owners_hear_once_of_emails_that_wait(
    service: Service, account: str, agent: Api, owner: Api
) -> None:
    del owner
    with service.at(wiring.utc_now().replace(minute=10, second=0)):
        sent = [agent.send(raw_html(subject="SECRET")).json["messageId"] for _ in range(3)]
        service.count(account, sent[0])
        service.count(account)
    telling = wiring.services().alert_telling
    assert [telling.tell(account), telling.tell(account)] == [1, 0]
    notices = [one for one in service.messages(account) if one.get("via") == "notice"]
    assert [(one["to"], one["subject"]) for one in notices] == [
        (["owner@shop.example"], "An agent's email waits for you")
    ]
    (mail,) = service.mailed()
    assert "SECRET" not in str(mail)
    assert f"/app/activity/{sent[0]}" in text_of(mail)
