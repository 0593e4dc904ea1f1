"""The service under test: its real Lambda handlers on emulated AWS."""

import base64
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from typing import Any, Final
from unittest import mock
from uuid import UUID

from botocore.awsrequest import AWSResponse
from moto.awslambda.models import EventSourceMapping
from moto.backends import get_backend
from moto.core.models import DEFAULT_ACCOUNT_ID

import pillarbox.http.sign_in.sign_up  # noqa: F401  it keeps the number that it finds
from pillarbox import wiring
from pillarbox.adapters.code_requests import read_request
from pillarbox.adapters.dynamodb import keys, records
from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
from pillarbox.adapters.dynamodb.table import to_item, to_text
from pillarbox.adapters.dynamodb.webhooks.deliveries import DynamoWebhookDeliveries
from pillarbox.adapters.dynamodb.webhooks.endpoints import DynamoWebhookEndpoints
from pillarbox.adapters.sqs.webhook_jobs import read_task
from pillarbox.application.pauses import Pauses
from pillarbox.application.templates.authoring import OPERATOR, content_of
from pillarbox.domain.accounts.account import Account, Plan
from pillarbox.domain.accounts.account_domain import AccountDomain
from pillarbox.domain.accounts.key import (
    PRESET_SCOPES,
    PREVIEW_SCOPES,
    AgentSettings,
    ApiKey,
    Confirmation,
    KeyType,
    Preset,
    account_of_key,
    digest_of_key,
    ending_of_key,
    new_key_text,
)
from pillarbox.domain.accounts.pause import Pause, PauseCause, PauseLevel, PauseScope
from pillarbox.domain.accounts.quota import WINDOWS, Limits, window_name
from pillarbox.domain.ids import new_id, new_token
from pillarbox.domain.replies import ReceivedContent, ReceivedMail
from pillarbox.domain.sign_in import sign_up
from pillarbox.domain.sign_in.codes import CodeRequest
from pillarbox.domain.sign_in.session import Role, parse_cookie
from pillarbox.domain.templates.template import SavedTemplate
from pillarbox.domain.webhooks.endpoint import (
    DeliveryAttempt,
    DeliveryState,
    PostingTask,
    WebhookDelivery,
)
from pillarbox.domain.webhooks.events import webhook_test
from pillarbox.http.sign_in import replies
from pillarbox.rendering.template_check import check_template
from pillarbox.settings import Settings
from tests.aws import create_queues, create_table, emulated_aws, forget_wiring, shared_client
from tests.contract.bodies import raw_html
from tests.contract.client import Api, Invocation, handler
from tests.contract.name_server import RECORDS
from tests.contract.ses_domains import Answer, SesDomainIdentities, aws_response
from tests.fakes.builders import QUEUES, environment, received
from tests.fakes.webhooks import FakeWebhookPoster, endpoint

ACCOUNT_ID_LENGTH = 12

MAX_ENDPOINTS = 10

SENDER: Final = "post@sender.example"
#: What no other record has, so that a test can find it in a response.
HOOK_URL: Final = "https://shop.example/hooks/Secret"
#: Where the tests' dashboard is.
APP_URL: Final = "https://app.example"
#: The largest number that proves work: altcha's Python searches a second for each two million.
_MAX_NUMBER: Final = 500
_REGION: Final = "eu-west-1"
_TABLE: Final = "pillarbox"
_CREDENTIALS: Final = "pillarbox-credentials"
_BUCKET: Final = "pillarbox-spool"
_MAPPING: Final = "0a1b2c3d-0000-4000-8000-000000000000"

#: Those that tests look into, in the order of the fields of `Service`.
_QUEUES: Final = (
    Settings.jobs_queue_url,
    Settings.urgent_jobs_queue_url,
    Settings.jobs_dead_letters_url,
    Settings.events_queue_url,
)
_LIMITLESS: Final = Limits(per_minute=10**6, per_day=10**6, per_month=10**6)
_real_time = wiring.stores.read_clock


@dataclass(slots=True)
class Ses:
    """SES, replaced inside botocore: it keeps the input of SendEmail, and responds or fails."""

    mails: list[dict[str, Any]] = field(default_factory=list)
    #: The error to respond with, instead of a success: (HTTP status, error code).
    failure: tuple[int, str] | None = None
    message: str = ""
    domains: SesDomainIdentities = field(default_factory=SesDomainIdentities)

    def send_email(self, params: dict[str, Any], **_: object) -> Answer:
        if self.failure:
            status, code = self.failure
            return aws_response(status, {"Error": {"Code": code, "Message": self.message}})
        mail = json.loads(params["body"])
        mail["raw"] = base64.b64decode(mail["Content"]["Raw"]["Data"])
        self.mails.append(mail)
        return aws_response(200, {"MessageId": f"provider-{len(self.mails)}"})

    @staticmethod
    def account(**_: object) -> Answer:
        """Respond with an account that has no limit."""
        return aws_response(200, {})


@dataclass(slots=True)
class Lambda:
    """Lambda, replaced inside botocore: it keeps the events of asynchronous invocations."""

    events: list[dict[str, Any]] = field(default_factory=list)

    def invoke(self, params: dict[str, Any], **_: object) -> tuple[AWSResponse, dict[str, Any]]:
        assert params["headers"]["X-Amz-Invocation-Type"] == "Event"
        self.events.append(json.loads(params["body"]))
        return aws_response(202, {})


@dataclass(slots=True)
class Clock:
    """The clock of the service: the real time, unless a test sets it.

    No two readings are in one millisecond, so that what a test does in turn has an order.
    """

    fixed: datetime | None = None
    _last: datetime = datetime(1970, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        if self.fixed is None:
            self._last = max(_real_time(), self._last + timedelta(milliseconds=1))
        return self.fixed or self._last


@dataclass(frozen=True, slots=True)
class Service:
    """Everything behind the API, which tests set up and inspect."""

    queue_url: str
    urgent_url: str
    dead_url: str
    events_url: str
    ses: Ses
    code_events: list[dict[str, Any]]
    clock: Clock

    @contextmanager
    def at(self, moment: datetime) -> Iterator[None]:
        """Stop the service's clock at a moment."""
        self.clock.fixed = moment
        try:
            yield
        finally:
            self.clock.fixed = None

    @contextmanager
    def signing_up(self, mode: str, domains: str = "") -> Iterator[None]:
        """Run the service with other parameters of signing up."""
        changed = {"PILLARBOX_SIGN_UP": mode, "PILLARBOX_SIGN_UP_DOMAINS": domains}
        policy = wiring.Wiring(Settings(changed)).sign_up_policy
        made = wiring.services()
        cases = {
            "sign_in": replace(made.sign_in, policy=policy),
            "code_mail": replace(made.code_mail, policy=policy),
            "sign_up": replace(made.sign_up, policy=policy),
            "sign_up_approval": replace(made.sign_up_approval, policy=policy),
        }
        with mock.patch.dict(vars(made), cases):
            yield

    @contextmanager
    def breaking(self) -> Iterator[None]:
        """Run the service with a breaker that acts."""
        variables = dict(os.environ) | {"PILLARBOX_STRANGERS": "on"}
        aggregation = wiring.Wiring(Settings(variables)).aggregation
        with mock.patch.dict(vars(wiring.services()), aggregation=aggregation):
            yield

    def pause(self, account_id: str) -> None:
        """Stop a template of an account, as the breaker does; an owner may end it."""
        pause = Pause(
            scope=PauseScope.TEMPLATE,
            id="welcome",
            level=PauseLevel.STOP,
            cause=PauseCause.BOUNCES,
            since=wiring.utc_now(),
        )
        Pauses(wiring.services().account_store).put(account_id, pause)

    def bounce(self, account_id: str, api: Api) -> None:
        """Let 20 emails of a key bounce for good, and apply that to the statistics."""
        now, records, sent = wiring.utc_now().isoformat(), [], []
        for number in range(20):
            address = f"gone{number}@customer.example"
            message_id = api.send(raw_html(to=address)).json["messageId"]
            sent.append(message_id)
            tags = {"account": [account_id], "message": [message_id]}
            bounced = {"emailAddress": address, "diagnosticCode": "smtp; 550 5.1.1 no such user"}
            part = {
                "bounceType": "Permanent",
                "bounceSubType": "General",
                "timestamp": now,
                "bouncedRecipients": [bounced],
            }
            mail = {"messageId": "ses-1", "timestamp": now, "tags": tags}
            records.append({"eventType": "Bounce", "mail": mail, "bounce": part})
        assert self.report(*records) == []
        self.count(account_id, *sent)

    def count(self, account_id: str, *message_ids: str) -> None:
        """Apply the records of messages to the statistics, as the table's stream does."""
        changes = [
            {"dynamodb": {"NewImage": to_item(item)}}
            for item in self.messages(account_id)
            if not message_ids or item["sk"] in message_ids
        ]
        handler("aggregate_stats")({"Records": changes}, Invocation())

    def account(
        self,
        plan: Plan = Plan.STANDARD,
        *,
        limits: Limits = _LIMITLESS,
        senders: Mapping[str, bool] | None = None,
        default: str | None = SENDER,
        contact: str | None = None,
    ) -> str:
        account = Account(
            account_id=new_token(ACCOUNT_ID_LENGTH),
            name="Test",
            plan=plan,
            created_at=wiring.utc_now(),
            overrides=limits,
            contact=contact,
            senders={SENDER: True} if senders is None else senders,
            default_sender=default,
        )
        wiring.services().table.put(records.account_item(account))
        return account.account_id

    def key(
        self,
        account_id: str,
        preset: Preset | None = Preset.SEND,
        *,
        scopes: frozenset[str] | None = None,
        key_type: KeyType = KeyType.LIVE,
        self_service: bool = False,
        agent: AgentSettings | None = None,
        sources: tuple[str, ...] = (),
    ) -> str:
        text = new_key_text(account_id, key_type)
        granted = PRESET_SCOPES[preset] if preset else PREVIEW_SCOPES
        key = ApiKey(
            key_id=f"key_{account_id}{new_token(8)}",
            account_id=account_id,
            name="Test",
            type=key_type,
            preset=preset,
            scopes=granted if scopes is None else scopes,
            digest=digest_of_key(text),
            ending=ending_of_key(text),
            created_at=wiring.utc_now(),
            self_service=self_service,
            agent=agent,
            sources=sources,
        )
        wiring.services().credentials.put(records.key_item(key))
        return text

    def receive(
        self, account_id: str, /, texts: Mapping[str, str] | None = None, **of_mail: Any
    ) -> ReceivedMail:
        """Store an answer that came to an account; its first two files have contents."""
        mail, it = received(account_id, **of_mail), wiring.services()
        usual: dict[str, Any] = {
            "text": "Yes.\n\n> Where to?\n",
            "html": "<p>Yes.</p>",
            "reply": "Yes.",
        }
        content = ReceivedContent(**usual | dict(texts or {}))
        contents = [("text/plain", b"abc"), ("image/png", b"\x89PNG")]
        it.received_objects.save(mail, b"raw", content, contents)
        assert it.received_mails.add(mail)
        return mail

    def send_for_owner(self, account_id: str, body: Mapping[str, Any]) -> str:
        """Send an email as an agent whose emails wait for an owner, and return its id."""
        settings = AgentSettings(recipients=("*",), confirmation=Confirmation.OWNER)
        sent = Api(self.key(account_id, agent=settings)).send(body)
        return str(sent.json["messageId"])

    def revoke(self, key_text: str) -> None:
        wiring.services().credentials.update(
            keys.api_key(digest_of_key(key_text)),
            "SET revoked = :at",
            values={":at": to_text(wiring.utc_now())},
        )

    def live(self, plan: Plan = Plan.STANDARD, **account: Any) -> Api:
        """Return a client with a live key of a new account."""
        return Api(self.key(self.account(plan, **account)))

    def preview(self, *, self_service: bool = False) -> Api:
        """Return a client with a preview key of a new account."""
        account_id = self.account(Plan.FREE, senders={}, default=None)
        preview = KeyType.PREVIEW
        return Api(self.key(account_id, None, key_type=preview, self_service=self_service))

    def template(self, account_id: str, html: str, subject: str = "Saved") -> str:
        now = wiring.utc_now()
        checked = check_template(subject, html)
        template = SavedTemplate(
            account_id=account_id,
            template_id=str(new_id(now)),
            name="Saved",
            subject=subject,
            category="test",
            html=html,
            variables=checked.names,
            required=checked.required,
            internal=False,
            created_at=now,
            updated_at=now,
        )
        authoring = wiring.services().template_authoring
        authoring.publication.create(template, content_of(template), OPERATOR)
        return template.template_id

    def webhook(self, account_id: str) -> str:
        """Store an endpoint, in place of the oldest if there are too many; return its id."""
        stored = endpoint(account_id, url=HOOK_URL, created_at=wiring.utc_now())
        endpoints = DynamoWebhookEndpoints(wiring.services().credentials, wiring.services().table)
        while not endpoints.add(stored, MAX_ENDPOINTS - 1):  # so that a test can add one
            endpoints.remove(account_id, endpoints.of_account(account_id)[0].endpoint_id)
        return stored.endpoint_id

    def delivery(self, account_id: str, endpoint_id: str) -> str:
        """Store a delivered event of an endpoint; return the id of the delivery."""
        event = webhook_test(account_id, wiring.utc_now()).for_endpoint(endpoint_id)
        attempt = DeliveryAttempt(at=event.at, status_code=204, milliseconds=7)
        DynamoWebhookDeliveries(wiring.services().table).put(
            WebhookDelivery(event=event, state=DeliveryState.DELIVERED, attempts=(attempt,))
        )
        return event.delivery_id

    def webhook_tasks(self) -> list[PostingTask]:
        """Receive everything that is queued for webhooks."""
        queued = _receive_all(os.environ["PILLARBOX_WEBHOOKS_QUEUE_URL"])
        return [read_task(message["Body"]) for message in queued]

    def suppress(self, account_id: str, address: str, reason: str = "bounced") -> None:
        DynamoSuppressions(wiring.services().table).put(
            account_id, address, reason, wiring.utc_now(), None
        )

    def quota_used(self, account_id: str) -> int:
        """Return the number of messages counted in the current month."""
        item = wiring.services().table.get(keys.quota(account_id)) or {}
        return max((n for name, n in item.items() if name.startswith("month:")), default=0)

    def spend(self, api: Api, **used: int) -> None:
        """Set how many messages a client's account has sent in each window."""
        account_id = account_of_key(api.key or "")
        assert account_id is not None
        now = wiring.utc_now()
        counts = {window_name(window, now): used.get(window, 0) for window in WINDOWS}
        wiring.services().table.put(keys.quota(account_id) | to_item(counts))

    def messages(self, account_id: str) -> list[dict[str, Any]]:
        """Return the records of an account's accepted messages."""
        partition = keys.message(account_id, UUID(int=0))
        rows = wiring.services().table.query(partition)
        return [row for row in rows if not records.is_tombstone(row)]

    def claim_items(self, account_id: str) -> list[dict[str, Any]]:
        """Return the stored idempotency claims of an account."""
        page = shared_client("dynamodb").scan(
            TableName=_TABLE,
            FilterExpression="begins_with(pk, :claims)",
            ExpressionAttributeValues=to_item({":claims": f"IDEM#{account_id}#"}),
        )
        return list(page["Items"])

    def jobs_of(self, api: Api) -> list[dict[str, Any]]:
        """Receive the jobs of an account; those that other tests left come back by themselves."""
        account_id = account_of_key(api.key or "")
        return [job for job in self.jobs() if json.loads(job["body"])["account"] == account_id]

    def jobs(self) -> list[dict[str, Any]]:
        """Receive all messages of both queues of jobs, as records of event source mappings.

        They are in the order in which they were sent.
        """
        jobs = [
            (url, job) for url in (self.queue_url, self.urgent_url) for job in _receive_all(url)
        ]
        jobs.sort(key=lambda each: int(each[1]["Attributes"]["SentTimestamp"]))
        return [
            queue_record(job["Body"], job["MessageId"], job["ReceiptHandle"], queue=_name_of(url))
            for url, job in jobs
        ]

    def sweep_tasks(self) -> list[dict[str, Any]]:
        """Receive all messages of the sweep queue, as records of an event source mapping."""
        tasks = _receive_all(os.environ["PILLARBOX_SWEEP_QUEUE_URL"])
        return [queue_record(task["Body"], task["MessageId"]) for task in tasks]

    def dead_letters(self) -> list[str]:
        """Receive the bodies of all messages in the dead-letter queue."""
        return [letter["Body"] for letter in _receive_all(self.dead_url)]

    def deliver(self) -> list[str]:
        """Run the worker on all jobs; return the ids of those that SQS will deliver again.

        It gets one job at a time. It would deliver a batch in threads, in any order.
        """
        return [one for job in self.jobs() for one in self._consume("deliver_message", [job])]

    def mailed(self) -> list[Any]:
        """Send what is queued; return the emails that SES gets, as a mail program reads them."""
        already = len(self.ses.mails)
        self.mail_codes()
        self.deliver()
        new = self.ses.mails[already:]
        return [message_from_bytes(mail["raw"], policy=policy.default) for mail in new]

    def report(self, *events: Mapping[str, Any], receives: int = 1) -> list[str]:
        """Pass event records of SES to `record_feedback`."""
        rows = [
            queue_record(json.dumps(event), str(n), receives=receives)
            for n, event in enumerate(events)
        ]
        return self._consume("record_feedback", rows)

    def consume(self, function: str, *bodies: str) -> list[str]:
        """Pass raw queue messages to a function."""
        return self._consume(function, [queue_record(b, str(n)) for n, b in enumerate(bodies)])

    def codes(self) -> list[CodeRequest]:
        """Return the one-time codes for which `mail_code` was invoked, and forget them."""
        codes = [read_request(event) for event in self.code_events if "notice" not in event]
        self.code_events.clear()
        return codes

    def mail_codes(self) -> list[Mapping[str, Any]]:
        """Make the invocations of `mail_code`, and return their results."""
        events, self.code_events[:] = self.code_events[:], []
        return [self.mail_code(event) for event in events]

    @staticmethod
    def mail_code(event: dict[str, Any]) -> Mapping[str, Any]:
        """Invoke `mail_code`."""
        return handler("mail_code")(event, Invocation())

    def session(
        self, account_id: str, role: Role = Role.OWNER, address: str = "ada@shop.example"
    ) -> str:
        """Return the access token of a new session of a member."""
        team, sign_in = wiring.services().team, wiring.services().sign_in
        team.add_member(account_id, address, role)
        issued = sign_in.with_link(team.new_link(address), "Firefox")
        return sign_in.exchange(parse_cookie(issued.cookie), account_id).text

    def operator(self, address: str = "root@pillarbox.example") -> str:
        """Return the access token of a new session of an operator, who is in no account."""
        team, sign_in = wiring.services().team, wiring.services().sign_in
        team.set_operator(address, operator=True)
        return sign_in.with_link(team.new_link(address), "Firefox").access.text

    def domain(self, account_id: str, name: str, *, verified: bool = True) -> str:
        """Store a domain of an account, which was just checked."""
        self.ses.domains.known[name] = verified
        RECORDS.setdefault((f"in.{name}", "MX"), [])
        now = wiring.utc_now()
        identity = wiring.services().account_domains.check.identity(name)
        wiring.services().account_domains.records.add(
            AccountDomain(
                account_id=account_id,
                identity=identity,
                added_at=now,
                checked_at=now,
                proved_at=now if verified else None,
            )
        )
        return name

    def sender(self, account_id: str, address: str) -> str:
        """Add a verified sender to an account."""
        return wiring.services().senders.add(account_id, address, verified=True).address

    def spooled(self) -> list[str]:
        """Return the keys of the objects in the spool."""
        listed = shared_client("s3").list_objects_v2(Bucket=_BUCKET)
        return [entry["Key"] for entry in listed.get("Contents", [])]

    @staticmethod
    def _consume(function: str, rows: list[dict[str, Any]]) -> list[str]:
        response = handler(function)({"Records": rows}, Invocation())
        return [failure["itemIdentifier"] for failure in response["batchItemFailures"]]


def _add_mapping() -> None:
    """Add what reads the queue of received mail: disabled, as the template has it."""
    make: Any = EventSourceMapping  # mypy takes it for abstract
    mapping = make(
        {
            "RegionName": _REGION,
            "AccountId": DEFAULT_ACCOUNT_ID,
            "FunctionName": "ReceiveEmail",
            "FunctionArn": f"arn:aws:lambda:{_REGION}:{DEFAULT_ACCOUNT_ID}:function:ReceiveEmail",
            "EventSourceArn": f"arn:aws:sqs:{_REGION}:{DEFAULT_ACCOUNT_ID}:ReceivedQueue",
            "Enabled": False,
        }
    )
    engine: Any = get_backend("lambda")[DEFAULT_ACCOUNT_ID][_REGION]
    engine._event_source_mappings[_MAPPING] = mapping


@contextmanager
def running_service(dns_server: str) -> Iterator[Service]:
    """Start the emulated AWS with the resources of the service."""
    settings = environment(
        table=_TABLE,
        credentials_table=_CREDENTIALS,
        spool_bucket=_BUCKET,
        configuration_set="pillarbox",
        mail_code_function="MailCode",
        widget_origins="https://shop.example",
        aws_webhooks_account="999999999999",
        strangers="on",
        dns_servers=dns_server,
        received_mapping=_MAPPING,
    ) | {
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": _REGION,
        "POWERTOOLS_SERVICE_NAME": "pillarbox",
        "POWERTOOLS_METRICS_NAMESPACE": "Pillarbox",
    }
    with mock.patch.dict(os.environ, settings), emulated_aws():
        create_table(_TABLE)
        create_table(_CREDENTIALS)
        shared_client("s3").create_bucket(
            Bucket=_BUCKET, CreateBucketConfiguration={"LocationConstraint": _REGION}
        )
        created = create_queues(shared_client("sqs"))
        queues = {variable: created[logical_id] for variable, logical_id in QUEUES.items()}
        _add_mapping()
        forget_wiring()
        wiring.services().service_address.store(APP_URL)
        clock = Clock()
        with (
            mock.patch.dict(os.environ, queues),
            mock.patch.object(wiring.stores, "read_clock", clock),
            mock.patch.object(wiring.delivery, "sleep"),
            mock.patch.object(sign_up, "MAX_NUMBER", _MAX_NUMBER),
            mock.patch.object(replies, "MAX_NUMBER", _MAX_NUMBER),
        ):
            ses = Ses()
            mailer: Any = wiring.services().delivery.mailer
            mailer._ses.meta.events.register("before-call.sesv2.SendEmail", ses.send_email)
            codes = Lambda()
            invoker: Any = wiring.services().code_requests
            invoker._lambda.meta.events.register("before-call.lambda.Invoke", codes.invoke)
            rate: Any = wiring.services().delivery.rate
            client = rate._read_rate.__self__._ses
            client.meta.events.register("before-call.sesv2.GetAccount", Ses.account)
            provider: Any = wiring.services().service_checks.provider
            for call in ("Account", "ConfigurationSet", "ConfigurationSetEventDestinations"):
                provider._ses.meta.events.register(f"before-call.sesv2.Get{call}", Ses.account)
            identities: Any = wiring.services().account_domains.check.identities
            tenants: Any = wiring.services().senders.tenants
            pauses: Any = wiring.services().tenant_pauses
            deleted: Any = wiring.services().account_deletion.tenants
            lists: Any = wiring.services().provider_suppressions
            own: Any = wiring.services().tenants
            for adapter in (identities, tenants, pauses.may_send.__self__, deleted, lists, own):
                ses.domains.answer(adapter._ses.meta.events)
            # The name server of these tests has no public addresses.
            vars(wiring.services())["webhook_poster"] = FakeWebhookPoster()
            jobs, urgent, dead, events = (queues[queue.variable] for queue in _QUEUES)
            yield Service(jobs, urgent, dead, events, ses, codes.events, clock)
        forget_wiring()


def _receive_all(queue_url: str) -> list[Any]:
    sqs = shared_client("sqs")
    messages: list[Any] = []
    while batch := sqs.receive_message(
        QueueUrl=queue_url,
        MaxNumberOfMessages=10,
        MessageSystemAttributeNames=["SentTimestamp"],
    ).get("Messages"):
        messages += batch
    return messages


def _name_of(queue_url: str) -> str:
    return queue_url.rpartition("/")[2]


def text_of(mail: Any, kind: str = "plain") -> str:
    """Return the text part of an email, or another one."""
    text: str = mail.get_body((kind,)).get_content()
    return text.replace("\r\n", "\n")


def queue_record(
    body: str,
    message_id: str = "1",
    receipt: str = "receipt",
    *,
    queue: str = "jobs",
    receives: int = 1,
    first_received_at: datetime | None = None,
) -> dict[str, Any]:
    """Return a message as Lambda's event source mapping passes it on."""
    return {
        "messageId": message_id,
        "receiptHandle": receipt,
        "body": body,
        "attributes": {
            "ApproximateReceiveCount": str(receives),
            "SentTimestamp": _milliseconds(wiring.utc_now()),
            "ApproximateFirstReceiveTimestamp": _milliseconds(
                first_received_at or wiring.utc_now()
            ),
        },
        "messageAttributes": {},
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:{_REGION}:123456789012:{queue}",
        "awsRegion": _REGION,
    }


def _milliseconds(moment: datetime) -> str:
    return str(round(moment.timestamp() * 1000))
