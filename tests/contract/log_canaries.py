"""A program that sends canaries in everything that a client or SES can send.

`test_logs.py` runs it and searches its output. Beside each line that the service logs of a request
it logs one that leaks: the request or message, as `leaked`, which the search must find.
"""

import base64
import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from typing import Any
from unittest import mock

from pillarbox import observability, wiring
from pillarbox.adapters.code_requests import write_request
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import to_item
from pillarbox.consumer import InvocationFailed
from pillarbox.domain.accounts.key import SCOPES, AgentSettings, Confirmation, Preset
from pillarbox.domain.client_origin import ClientOrigin
from pillarbox.domain.ids import new_id
from pillarbox.domain.sign_in.session import Role
from relay.service import ThreadedService
from tests.contract import test_preview_keys as widget
from tests.contract.bodies import attachment, otp
from tests.contract.canaries import ADDRESS, CANARY, URL, failing
from tests.contract.client import Api, Invocation, handler
from tests.contract.mcp import McpClient, yes
from tests.contract.operations import CHANGES, OPERATIONS, send_waiting
from tests.contract.service import Service, queue_record, running_service
from tests.contract.sign_in import Browser, signed_in
from tests.contract.sign_up import WRONG_PROOF, post, proof_for, user_without_account
from tests.contract.smtp_canaries import relay_everything
from tests.contract.webhook_path import WebhookPath

#: The secrets of signing in, which nobody can choose. They are printed after the end of the log.
SECRETS: list[str] = []


def accepted(template: str) -> list[dict[str, Any]]:
    """Return sends that are accepted, with a canary in each possible field."""
    common: dict[str, Any] = {
        "to": ADDRESS,
        "cc": [f"cc.{ADDRESS}"],
        "bcc": [f"bcc.{ADDRESS}"],
        "fromName": CANARY,
        "replyTo": f"reply.{ADDRESS}",
        "subject": CANARY,
        "attachments": [
            attachment(CANARY.encode(), filename=f"{CANARY}.pdf"),
            attachment(inline=True, contentId=CANARY, contentType="image/png"),
        ],
    }
    branded = common | {"brandName": CANARY, "logoUrl": URL, "variables": {"name": CANARY}}
    return [
        common | {"html": f"<p>{CANARY}</p>"},
        branded | {"starterTemplate": "welcome"},
        branded | {"templateId": template},
    ]


def refused() -> list[dict[str, Any]]:
    """Return a send for each kind of refusal, with the canary in the invalid part."""
    return [
        otp(**{CANARY: CANARY}),
        otp(to=CANARY),
        otp(to=[ADDRESS, f"{CANARY}@gone.invalid"]),
        otp(to=f"suppressed.{ADDRESS}"),
        otp(to=5, subject=f"{CANARY}\n"),
        otp(replyTo=CANARY),
        otp(starterTemplate=CANARY),
        otp(variables={"app_name": [CANARY]}),
        otp(logoUrl=f"http://{CANARY}"),
        otp(**{"from": ADDRESS}),
        otp(attachments=[attachment(contentType=CANARY)]),
        otp(attachments=[attachment(content=CANARY)]),
        otp(attachments=[attachment(filename=f"{CANARY}/")]),
        otp(to=[ADDRESS] * 51),
        otp(variables={"otp_code": CANARY * 30_000}),
        otp(attachments=[attachment(CANARY.encode() * 530_000)]),
        otp(attachments=[attachment(CANARY.encode())] * 11),
        otp(subject=CANARY * 100, html=CANARY, starterTemplate=...),
        {"to": ADDRESS, "html": CANARY},
        {"to": ADDRESS, "html": CANARY, "starterTemplate": CANARY},
    ]


def send_everything(service: Service) -> None:
    account = service.account()
    api = Api(service.key(account))
    service.suppress(account, f"suppressed.{ADDRESS}")
    template = service.template(account, "<p>{{ name }}</p>", subject="{{ name }}")
    bodies = accepted(template) * 2 + refused()
    statuses = [
        api.send(body, idempotency_key=CANARY + str(n)).status for n, body in enumerate(bodies)
    ]
    assert statuses[:6] == [200] * 6
    assert min(statuses[6:]) >= 400
    for key in (CANARY, f"bx_live_{CANARY}", service.key(account, Preset.ANALYTICS)):
        Api(key).send(otp(to=ADDRESS))
    headers = {"Authorization": f"Bearer {CANARY}", "User-Agent": CANARY, "X-Other": CANARY}
    api.raw("POST", "/emails", f'{{"{CANARY}', headers, query={"key": CANARY})
    api.raw("GET", "/nowhere", None, headers)
    api.get(CANARY)
    api.preview(CANARY, {"variables": {"otp_code": CANARY}})
    api.preview("otp", {"variables": {"otp_code": CANARY, "app_name": [CANARY]}})


def read_everything(service: Service) -> None:
    """Request history, analytics and templates with canaries, in valid and invalid ways."""
    account = service.account()
    api = Api(service.key(account, Preset.MARKETING))
    template = service.template(account, f"<p>{CANARY} {{{{ {CANARY} }}}}</p>", subject=CANARY)
    message = api.send(accepted(template)[0]).json["messageId"]
    service.ses.failure, service.ses.message = (400, "MessageRejected"), CANARY
    service.deliver()  # so that a message has an error
    service.ses.failure = None
    day = {"from": "2026-01-01", "to": "2027-01-01", "bucket": "day"}
    reads = [
        ("GET", "/emails", {}),
        ("GET", f"/emails/{message}", {}),
        ("GET", "/emails/analytics", day),
        ("GET", "/templates", {}),
        ("GET", f"/templates/{template}", {}),
        ("DELETE", f"/templates/{template}", {}),
    ]
    for method, place, query in reads:
        path, statuses = place, set()
        for fault in ("BatchGetItem", "GetItem", "DeleteItem", "Query", "none"):
            if (method, fault) == ("DELETE", "none"):
                path = f"/templates/{service.template(account, '<p>x</p>')}"
            with failing(fault):
                statuses.add(api.raw(method, path, query=query).status)
        assert 500 in statuses, path
        assert statuses & {200, 204}, (method, path, statuses)
        api.raw(method, path, f'{{"{CANARY}', {"X-Other": CANARY}, query={CANARY: CANARY})
        for name in ("from", "to", "bucket", "status", "skip", "limit", "sortBy"):
            if method == "GET":
                api.raw(method, path, query=query | {name: CANARY})
        for absent in (CANARY, str(new_id(wiring.utc_now()))):
            api.raw(method, f"/{path.split('/')[1]}/{absent}", query={CANARY: CANARY})
        for key in (None, CANARY, f"bx_live_{CANARY}", service.key(account, scopes=frozenset())):
            Api(key).raw(method, path, query={"key": CANARY})


def change_everything(service: Service) -> None:
    """Change emails that wait, with canaries in bodies and paths, and with failures."""
    api = Api(service.key(service.account(), Preset.CUSTOM, scopes=SCOPES))
    for operation in OPERATIONS:
        if operation.id not in CHANGES:
            continue
        for fault in ("GetItem", "UpdateItem", "none"):
            message = send_waiting(api, operation.id)
            path = operation.path.removeprefix("/v1").format(message_id=message)
            with failing(fault):
                operation.request(api, {"message_id": message})
            api.raw(operation.method, path, {"scheduledAt": CANARY, CANARY: CANARY})
            api.raw(operation.method, path, f'{{"{CANARY}', {"X-Other": CANARY})


def hook_everything(service: Service) -> None:
    """Call the routes of webhooks with canaries, in valid and invalid ways, and with failures."""
    account = service.account()
    api = Api(service.key(account, Preset.CUSTOM, scopes=SCOPES))
    url = f"https://{CANARY}.example/{CANARY}"
    for operation in OPERATIONS:
        if not operation.path.startswith("/v1/webhooks"):
            continue
        for fault in ("GetItem", "TransactWriteItems", "none"):
            webhook = service.webhook(account)
            ids = {"endpoint_id": webhook, "delivery_id": service.delivery(account, webhook)}
            path = operation.path.removeprefix("/v1").format_map(ids)
            with failing(fault):
                operation.request(api, ids)
                changes = {"url": url, "types": ["*"]} if "webhook" in operation.id else {}
                for body in (changes, {"url": url, "types": [CANARY]}, {CANARY: CANARY}):
                    api.raw(operation.method, path, body, query={CANARY: CANARY})
                api.raw(operation.method, path, f'{{"{CANARY}', {"X-Other": CANARY})
        for name in (CANARY, str(new_id(wiring.utc_now()))):
            wrong = {"endpoint_id": name, "delivery_id": CANARY}
            path = operation.path.removeprefix("/v1").format_map(wrong)
            api.raw(operation.method, path, query={CANARY: CANARY})


def read_answers(service: Service) -> None:
    """Read and answer mail that has canaries, in valid and invalid ways, and with failures."""
    account = service.account()
    api = Api(service.key(account, Preset.CUSTOM, scopes=SCOPES))
    texts = dict.fromkeys(("text", "html", "reply"), CANARY)
    fields = dict.fromkeys(("sender_name", "subject", "message_id_header"), CANARY)
    for operation in OPERATIONS:
        if not operation.path.startswith("/v1/received"):
            continue
        mail = service.receive(account, texts, sender=ADDRESS, reply_to=(ADDRESS,), **fields)
        ids, statuses = {"received_id": str(mail.received_id)}, set()
        path = operation.path.removeprefix("/v1").format_map(ids)
        for fault in ("BatchGetItem", "GetItem", "Query", "UpdateItem", "none"):
            with failing(fault):
                statuses.add(operation.request(api, ids).status)
                for body in ({"text": CANARY}, {"text": CANARY, CANARY: CANARY}, CANARY):
                    query = {"cursor": CANARY, "inReplyTo": CANARY}
                    api.raw(operation.method, path, body, {"X-Other": CANARY}, query=query)
                api.raw(operation.method, path, f'{{"{CANARY}')
        assert statuses >= {200, 500}, (path, statuses)
        for name in (CANARY, str(new_id(wiring.utc_now()))):
            wrong = operation.path.removeprefix("/v1").format(received_id=name)
            api.raw(operation.method, wrong, {"text": CANARY}, query={CANARY: CANARY})
    assert service.consume("receive_email", CANARY)


def sign_in_everywhere(service: Service) -> None:
    """Sign in with canaries as address, code, flow, link, cookie and token, also with failures."""
    browser, team = Browser(), wiring.services().team
    team.add_member(service.account(), ADDRESS, Role.OWNER)
    flow = browser.request_code(ADDRESS).json["flow"]
    (queued,) = service.codes()
    event = write_request(replace(queued, code=CANARY))
    for wrong in ({CANARY: CANARY}, event | {"version": CANARY}, event | {"at": CANARY}):
        with suppress(InvocationFailed):
            service.mail_code(wrong)
    for fault in ("UpdateItem", "PutItem", "GetItem", "Query", "BatchGetItem", "none"):
        with failing(fault):
            browser.request_code(ADDRESS)
            browser.request_code(CANARY)
            with suppress(InvocationFailed):
                service.mail_code(event)
            for body in ({"flow": CANARY, "code": CANARY[:6]}, {"link": CANARY}, {CANARY: CANARY}):
                browser.post("", body)
            browser.post("/token", {"accountId": CANARY})
            Browser(CANARY).post("/token", {"accountId": CANARY}, Origin=CANARY)
            for token in (CANARY, f"pbs_{CANARY}"):
                Api(session=token).raw("GET", "/session", query={CANARY: CANARY})
                Api(session=token).raw("DELETE", f"/session/{CANARY}")
                Api(session=token).raw("GET", "/emails")
    for _ in range(6):
        browser.sign_in(flow, "482913")
    used = signed_in(service, ADDRESS)
    secrets = [flow, flow.rpartition(".")[2], used.cookie or "", used.token().json["token"]]
    Api(session=secrets[-1]).raw("GET", "/emails")
    Api(session=secrets[-1]).raw("GET", "/session")
    # The search knows only words that it was told, so these are searched here.
    SECRETS.extend(secrets)


def sign_up_everywhere(service: Service) -> None:
    """Sign up with canaries as address, name and proof, also with failures, and be told not to."""
    service.codes()  # those of the tests before
    with service.signing_up("open"):
        api = user_without_account(service, f"new.{ADDRESS}")
        proof = proof_for(api)
        for fault in ("GetItem", "PutItem", "TransactWriteItems", "none"):
            with failing(fault):
                api.raw("GET", "/sign-up", query={CANARY: CANARY})
                wrong = (dict.fromkeys(WRONG_PROOF, CANARY), WRONG_PROOF | {"salt": CANARY}, CANARY)
                for given in (*wrong, proof, proof_for(api) if fault == "none" else proof):
                    post(api, CANARY, given)
                api.raw("POST", "/sign-up", f'{{"{CANARY}')
                Api(session=f"pbs_{CANARY}").raw("GET", "/sign-up")
        assert api.raw("GET", "/sign-up").json["status"] == "created"
        SECRETS.append(wiring.services().sign_up.proofs.key().hex())
    with service.signing_up("closed"):
        Browser().request_code(f"stranger.{ADDRESS}")
        assert service.mail_codes()[-1] == {"code_accepted": 0}


def visit_widget(service: Service) -> None:
    """Get a preview key with canaries in each field, also with failures; send, and report that."""
    address = f"visitor.{ADDRESS}"
    wrong = {"code": CANARY[:6], "flow": CANARY, "proof": CANARY, "token": CANARY}
    for fault in ("GetItem", "PutItem", "UpdateItem", "TransactWriteItems", "none"):
        with failing(fault):
            for path in ("", "/challenges", "/codes", "/reports"):
                widget.post(path, **{CANARY: CANARY})
                widget.post(path, address=CANARY, **wrong)
                widget.post(path, address=address, **wrong | {"proof": WRONG_PROOF})
                Api().raw("POST", f"/preview-keys{path}", f'{{"{CANARY}')
    service.codes()  # those of the tests before
    flow = widget.request_code(address).json["flow"]
    (queued,) = service.codes()
    issued = widget.post("", flow=flow, code=queued.code)
    assert issued.status == 201
    assert Api(issued.json["key"]).send(otp(to=address)).status == 200
    report = widget.report_in(widget.last_mail(service, address))
    assert widget.post("/reports", token=report).status == 204
    SECRETS.extend((flow, issued.json["key"], report))


def fail_unexpectedly(service: Service) -> None:
    """Cause an unexpected error whose message quotes the request."""
    api = service.live()
    with failing("BatchGetItem"):
        assert api.send(otp(to=ADDRESS)).status == 500
        batch = {"messages": [otp(to=ADDRESS)]}
        assert api.raw("POST", "/emails/batch", batch).status == 500
        assert api.preview("otp", {"variables": {"otp_code": CANARY}}).status == 500


def deliver_everything(service: Service) -> None:
    failures = [(400, "MessageRejected"), (429, "TooManyRequestsException"), (500, "Internal")]
    for failure in (*failures, None):
        service.ses.failure, service.ses.message = failure, f"Address {ADDRESS} is not verified."
        service.live().send(accepted("")[0])
        service.deliver()
    service.consume("deliver_message", json.dumps({"version": 1, "payload": CANARY}), CANARY)


def report_everything(service: Service) -> None:
    account = service.account()
    sent = Api(service.key(account)).send(otp(to=ADDRESS)).json["messageId"]
    moment = {"timestamp": "2027-01-01T00:00:00.000Z"}
    mail = moment | {
        "messageId": "provider",
        "source": ADDRESS,
        "tags": {"account": [account], "message": [sent]},
    }
    bounced = moment | {
        "bounceType": "Permanent",
        "bouncedRecipients": [{"emailAddress": ADDRESS, "diagnosticCode": CANARY}],
    }
    service.report(
        {"eventType": "Bounce", "mail": mail, "bounce": bounced},
        {"eventType": "Bounce", "mail": mail, "bounce": CANARY},
        {"eventType": "Delivery", "mail": mail, "delivery": moment | {"recipients": [ADDRESS]}},
    )
    service.consume("record_feedback", CANARY, f"[{base64.b64encode(CANARY.encode()).decode()}]")


def batch_everything(service: Service) -> None:
    api = service.live()
    bodies = accepted("")[:2] + refused()
    for messages in (bodies, CANARY, [CANARY, {CANARY: CANARY}]):
        body = {"messages": messages, "extra": CANARY}
        api.raw("POST", "/emails/batch", body, {"Idempotency-Key": CANARY})
        api.raw("POST", "/emails/batch", {"messages": messages}, {})
    for text in (f'{{"{CANARY}', {"messages": [otp(to=ADDRESS)] * 101}):
        api.raw("POST", "/emails/batch", text)
    file = {"filename": f"{CANARY}.pdf", "size": 9, "sha256": sha256(b"x").hexdigest()}
    for upload in (file, file | {CANARY: CANARY}, file | {"sha256": CANARY}):
        api.raw("POST", "/attachments", upload, {CANARY: CANARY})
        api.raw("POST", "/starter-templates/otp/preview", text)


def call_tools(service: Service) -> None:
    """Call the tools of the MCP server with canaries, and send messages that are none."""
    account = service.account()
    agent = AgentSettings(recipients=("*",), confirmation=Confirmation.OFF)
    clients = [McpClient(Api(service.key(account, agent=agent))), McpClient(service.live())]
    for client in clients:
        for body in (*accepted("")[:1], *refused()):
            client.call("send_email", body | {"idempotencyKey": CANARY})
            client.call("send_email", body | {"dryRun": True}, **yes(CANARY))
        client.call("send_batch", {"messages": refused()})
        for tool in client.tools():
            client.call(tool, {CANARY: CANARY, "address": ADDRESS, "domain": CANARY})
        client.request(CANARY, {"name": CANARY})
        client.request("tools/list", version=CANARY)
        for text in (f'{{"{CANARY}', {"jsonrpc": CANARY}):
            client.api.raw("POST", "/mcp", text, {"Origin": CANARY})
            client.api.raw("POST", "/mcp", text, {"Authorization": f"Bearer {CANARY}"})
            client.api.raw("POST", "/mcp", text)
    with failing("BatchGetItem"):
        assert clients[0].request("tools/list").status == 500


def count_and_sweep(service: Service) -> None:
    """Run the functions of the table's stream and of the schedule, with canaries in the records."""
    account = service.account()
    Api(service.key(account)).send(accepted("")[0])
    broken = {"pk": f"MSG#{CANARY}", "sk": CANARY}
    records = [
        {"dynamodb": {"NewImage": to_item(image), "SequenceNumber": str(number)}}
        for number, image in enumerate([*service.messages(account), broken])
    ]
    for function, event in (("aggregate_stats", {"Records": records}), ("sweep_messages", {})):
        handler(function)(event, Invocation())
    table = wiring.services().table
    table.put(keys.account_list(account))
    unreadable = {"sk": str(new_id(wiring.utc_now() - timedelta(hours=26))), "status": "pending"}
    table.put(to_item({"pk": f"MSG#{account}", "subject": CANARY} | unreadable))
    handler("sweep_messages")({}, Invocation())
    tasks = [*service.sweep_tasks(), queue_record(CANARY)]
    failed = handler("sweep_account")({"Records": tasks}, Invocation(seconds_left=300))
    assert failed["batchItemFailures"]


def announce_everything(service: Service) -> None:
    """Post webhooks with canaries in the records, the URL and what the endpoint answers."""
    path = WebhookPath(service, url=URL)
    path.run_everything(ADDRESS, CANARY)
    path.work(CANARY)
    assert any(CANARY.encode() in body for body in path.posted)


@contextmanager
def leaking() -> Iterator[None]:
    """Log requests and whole messages too, as the service never should.

    Of a request's body only the start, because seven files of 5 MB would take seconds to search.
    """
    log_response, submit = observability.log_response, ThreadedService.submit

    def log_all(logger: Any, event: dict[str, Any], status: int, **context: object) -> None:
        log_response(logger, event, status, **context)
        leaked = event | {"body": (event.get("body") or "")[:10_000]}
        log_response(logger, event, status, leaked=leaked)

    async def submit_and_log(
        self: ThreadedService,
        key_text: str,
        recipients: tuple[str, ...],
        octets: bytearray,
        origin: ClientOrigin,
    ) -> str:
        logging.getLogger("relay").info("leaked %s", octets)
        return await submit(self, key_text, recipients, octets, origin)

    with (
        mock.patch.object(observability, "log_response", log_all),
        mock.patch.object(ThreadedService, "submit", submit_and_log),
    ):
        yield


def main(dns_server: str) -> None:
    # Lambda's runtime has a handler like this one, so the log has the lines of libraries too.
    logging.basicConfig(level=logging.INFO)
    with leaking(), running_service(dns_server) as service:
        send_everything(service)
        fail_unexpectedly(service)
        service.deliver()
        deliver_everything(service)
        report_everything(service)
        batch_everything(service)
        call_tools(service)
        service.deliver()
        count_and_sweep(service)
        announce_everything(service)
        read_everything(service)
        change_everything(service)
        hook_everything(service)
        read_answers(service)
        sign_in_everywhere(service)
        sign_up_everywhere(service)
        visit_widget(service)
        relay_everything(service)
        service.deliver()
    print("secrets:", *SECRETS)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1])
