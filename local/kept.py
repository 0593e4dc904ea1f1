"""`PILLARBOX_KEEP`: the records and the emails of one run, put back at the next start.

Everything is in one file, which replaces the last one in one step at a regular stop. So a stack
that is killed leaves the state of the last regular stop. Records and emails always fit together.

Each line is a JSON object: first the format, then a record in DynamoDB's JSON, an email, an
identity or a suppressed address.
"""

import asyncio
import base64
import contextlib
import datetime as dt
import json
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import batched
from pathlib import Path
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError
from rich.console import Console

from admin.kept_records import goes_to_credentials, kept_records
from local.engine import Engine
from local.private import write_private_lines
from local.ses.mail import CapturedMail, Destination
from local.ses.store import MailStore
from local.ses.suppression import SuppressedDestination

#: A change of the lines, or of records that the release before cannot read, needs a new one.
_FORMAT: Final = 1
#: BatchWriteItem accepts at most 25 items.
_BATCH: Final = 25
#: Seconds. `docker stop` kills after ten.
_DELIVERED_WITHIN: Final = 5.0
_INTERVAL: Final = 0.25
_COUNTS: Final = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesDelayed",
    "ApproximateNumberOfMessagesNotVisible",
)


#: A record in DynamoDB's JSON.
type Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class KeptState:
    """What a run leaves to the next one."""

    items: list[Item] = field(default_factory=list)
    emails: list[CapturedMail] = field(default_factory=list)
    #: Identities with their MAIL FROM domains, if they have one.
    identities: dict[str, str | None] = field(default_factory=dict)
    suppressions: list[SuppressedDestination] = field(default_factory=list)
    #: Identities whose feedback SES does not mail to the sender.
    without_feedback: set[str] = field(default_factory=set)


def read_kept(path: Path, console: Console) -> KeptState:
    """Read the kept state; it is empty, and one line says why, if it cannot be used."""
    try:
        with path.open() as lines:
            if json.loads(next(lines, "null")) != {"format": _FORMAT}:
                console.print(f"{path} is of another version: nothing is put back.")
                return KeptState()
            return _state_of(map(json.loads, lines))
    except FileNotFoundError:
        return KeptState()
    except (ValueError, TypeError, KeyError, AttributeError):
        console.print(f"{path} is damaged: nothing is put back.")
        return KeptState()


def write_kept(path: Path, state: KeptState) -> None:
    """Replace the kept state in one step."""
    write_private_lines(path, (json.dumps(line, default=_text) for line in _lines(state)))


def restore_mailbox(mailbox: MailStore, state: KeptState) -> None:
    """Put emails, identities and suppressed addresses back."""
    for mail in state.emails:
        mailbox.add(mail)
    for identity, mail_from in state.identities.items():
        mailbox.create_identity(identity, new=False)
        if mail_from:
            mailbox.mail_from[identity] = mail_from
    for identity in state.without_feedback:
        mailbox.set_feedback_forwarding(identity, enabled=False)
    for entry in state.suppressions:
        mailbox.suppressions.put(entry)


def restore_tables(dynamodb: Any, table: str, credentials: str, state: KeptState) -> None:  # noqa: ANN401  a boto3 client
    """Put the records back, in their order."""
    for batch in batched(state.items, _BATCH, strict=False):
        requests: dict[str, list[Any]] = {}
        for item in batch:
            place = credentials if goes_to_credentials(item) else table
            requests.setdefault(place, []).append({"PutRequest": {"Item": item}})
        while requests:
            requests = dynamodb.batch_write_item(RequestItems=requests).get("UnprocessedItems")


def _records(dynamodb: Any, *tables: str) -> list[Item]:  # noqa: ANN401  a boto3 client
    scan = dynamodb.get_paginator("scan")
    pages = (page for name in tables for page in scan.paginate(TableName=name, ConsistentRead=True))
    return kept_records(item for page in pages for item in page["Items"])


@contextlib.asynccontextmanager
async def keeping(
    path: Path, mailbox: MailStore, engine: Engine, outputs: Mapping[str, str], console: Console
) -> AsyncIterator[None]:
    """Put the kept state back, and replace it at the end of a run that is stopped regularly.

    A regular stop cancels the run's task. If that happens before everything is put back, the kept
    state stays as it is.
    """
    dynamodb = engine.client("dynamodb")
    tables = outputs["TableName"], outputs["CredentialsTableName"]
    kept = await asyncio.to_thread(read_kept, path, console)
    await asyncio.to_thread(restore_tables, dynamodb, *tables, kept)
    restore_mailbox(mailbox, kept)
    try:
        yield
    except asyncio.CancelledError:
        queues = [outputs[f"{name}QueueUrl"] for name in ("Jobs", "UrgentJobs", "Events")]
        try:
            if not await _delivered(engine.client("sqs"), queues):
                console.print("Some emails are still on their way. They stay pending.")
            state = KeptState(
                await asyncio.to_thread(_records, dynamodb, *tables),
                mailbox.newest_first(refused=True)[::-1],
                {name: mailbox.mail_from.get(name) for name in mailbox.identities()},
                [*mailbox.suppressions.values()],
                mailbox.without_feedback,
            )
            await asyncio.to_thread(write_kept, path, state)
        except (OSError, BotoCoreError, ClientError) as error:
            console.print(f"[bold red]This run is not kept:[/] {error}")
        raise


async def _delivered(sqs: Any, queues: Collection[str]) -> bool:  # noqa: ANN401  a boto3 client
    """Wait some seconds until jobs and events are handled; return whether they are.

    A job that ends causes events, so the queues must be empty twice in a row.
    """
    empty = 0
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DELIVERED_WITHIN):
            while empty < 2:  # noqa: PLR2004  twice
                await asyncio.sleep(_INTERVAL)
                waiting = await asyncio.to_thread(_waiting, sqs, queues)
                empty = 0 if waiting else empty + 1
            return True
    return False


def _waiting(sqs: Any, queues: Collection[str]) -> int:  # noqa: ANN401  a boto3 client
    answers = [sqs.get_queue_attributes(QueueUrl=url, AttributeNames=[*_COUNTS]) for url in queues]
    return sum(int(answer["Attributes"][name]) for answer in answers for name in _COUNTS)


def _lines(state: KeptState) -> Iterator[dict[str, Any]]:
    yield {"format": _FORMAT}
    for item in state.items:
        yield {"item": item}
    for mail in state.emails:
        yield {"email": asdict(mail)}
    for identity, mail_from in state.identities.items():
        yield {
            "identity": identity,
            "mail_from": mail_from,
            "feedback": identity not in state.without_feedback,
        }
    for suppression in state.suppressions:
        yield {"suppression": asdict(suppression)}


def _state_of(lines: Iterator[dict[str, Any]]) -> KeptState:
    state = KeptState()
    for line in lines:
        match line:
            case {"item": item}:
                state.items.append(_with_bytes(item))
            case {"email": email}:
                state.emails.append(_email_of(email))
            case {"identity": identity, "mail_from": mail_from}:
                state.identities[identity] = mail_from
                if not line.get("feedback", True):
                    state.without_feedback.add(identity)
            case {"suppression": suppression}:
                state.suppressions.append(
                    SuppressedDestination(**_with_time(suppression, "updated_at"))
                )
            case _:
                raise ValueError("an unknown line")
    return state


def _email_of(line: dict[str, Any]) -> CapturedMail:
    lists = {name: tuple(addresses) for name, addresses in line["destination"].items()}
    return CapturedMail(
        **_with_time(line, "received_at")
        | {
            "destination": Destination(**lists),
            "headers": tuple((name, text) for name, text in line["headers"]),
            "raw": base64.b64decode(line["raw"]),
        }
    )


def _with_time(line: dict[str, Any], name: str) -> dict[str, Any]:
    return line | {name: dt.datetime.fromisoformat(line[name])}


def _with_bytes(value: Any) -> Any:  # noqa: ANN401  JSON
    """Return a record with its binary attributes as bytes."""
    match value:
        case {"B": str(text)}:
            return {"B": base64.b64decode(text)}
        case dict():
            return {name: _with_bytes(member) for name, member in value.items()}
        case list():
            return [_with_bytes(member) for member in value]
        case _:
            return value


def _text(value: object) -> str:
    """Return what JSON lacks as text: bytes in Base64, as DynamoDB writes them, and times."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dt.datetime):
        return value.isoformat()
    raise TypeError(f"not in a kept state: {type(value)}")
