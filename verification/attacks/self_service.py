"""Try to get a stranger's words, links or recipients into the email of a self-service key.

Every field of a send and every variable of each starter is tried with hostile values, alone and in
pairs, also as batches and under names that the templates use inside. An accepted email is built as
the worker builds it. It must be the one that the starter always makes, in every field and part,
apart from the recipient and what identifies the message.
"""

import base64
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from email import message_from_bytes, policy
from email.message import EmailMessage
from itertools import combinations
from typing import Any, Final

from pillarbox.application.delivery.build_message import build_raw
from pillarbox.application.sending.self_service import TEST_PREFIX
from pillarbox.domain.errors import Json, ServiceError
from pillarbox.domain.messages.batch import BatchRequest
from pillarbox.http.messages.wire import SendEmailRequest
from pillarbox.http.validation import validate
from pillarbox.http.wire import fields_of
from pillarbox.rendering.starters import SLUGS, find_starter
from tests.fakes import builders, stores
from tests.fakes.world import World
from verification.attacks.tally import Options, Tally

#: Every hostile value contains one of these.
MARKS: Final = ("qzx", "900555019900")
_VICTIM: Final = "victim@example.com"
_TEXTS: Final = (
    "Qzx Support: your account is locked, call 1-900-555-019-900",
    "https://qzx.example/login",
    "http://qzx.example",
    "mailto:qzx@qzx.example",
    "javascript:qzx()",
    '"><a href="https://qzx.example">qzx</a>',
    "{{ qzx }}{{7*7}}<!--% if 1 %-->qzx<!--% endif %-->",
    "qzx\r\nBcc: qzx@qzx.example",
    "qzx\u202eqzx\u2028",
    "900555019900",
    "qzx@qzx.example",
    "qzx " * 400,
)
_FILE: Final[Json] = {
    "filename": "qzx.txt",
    "contentType": "text/plain",
    "content": base64.b64encode(b"qzx").decode(),
}
_OTHERS: Final[tuple[Json, ...]] = (
    900555019900,
    True,
    ["qzx@qzx.example"],
    [_VICTIM, "qzx@qzx.example"],
    {"name": "qzx"},
    [_FILE],
    [{**_FILE, "inline": True, "contentId": "qzx"}],  # type: ignore[dict-item]
    "",
    [],
    None,
)
_VALUES: Final[tuple[Json, ...]] = (*_TEXTS, *_OTHERS)
#: Names that the templates and other parts of the service use inside.
_INNER_NAMES: Final = ("attribution", "brand_name", "brandName", "is_test", "logo_url", "logoUrl")


def attack(slugs: Iterable[str] = SLUGS) -> Tally:
    """Run the attack with some starters, and return the counts."""
    tally = Tally("marked", "different", "no test", "recipients", "batches accepted", "5xx")
    for slug in slugs:
        usual = _shown(_send({"to": _VICTIM, "starterTemplate": slug} | _samples(slug)))
        for body in _bodies(slug):
            tally["tried"] += 1
            try:
                world = _send(body)
            except ServiceError as error:
                tally["5xx" if error.status >= 500 else str(error.status)] += 1
            else:
                tally["accepted"] += 1
                for fault in _faults(world, usual):
                    tally.find(fault, body)
            tally["batches accepted"] += _accepts_batch(body)
    return tally


def _bodies(slug: str) -> Iterator[dict[str, Json]]:
    plain: dict[str, Json] = {"to": _VICTIM, "starterTemplate": slug}
    samples = _samples(slug)["variables"]
    fields = [field.name for field in fields_of(SendEmailRequest).values()]
    for field in fields:
        for value in _VALUES:
            yield plain | {"variables": samples, field: value}
    for first, second in combinations(fields, 2):
        yield plain | {"variables": samples, first: _TEXTS[1], second: _TEXTS[-2]}
    starter = find_starter(slug)
    names = [variable.name for variable in starter.variables] if starter else []
    for name in (*names, *_INNER_NAMES):
        for value in _VALUES:
            yield plain | {"variables": samples | {name: value}}
    for text in _TEXTS:
        yield plain | {"variables": dict.fromkeys((*names, *_INNER_NAMES), text)}


def _samples(slug: str) -> dict[str, Any]:
    starter = find_starter(slug)
    variables = starter.variables if starter else ()
    return {"variables": {variable.name: variable.sample for variable in variables}}


def _send(body: Mapping[str, Json]) -> World:
    """Send with the self-service key of a new account, and return its world."""
    world = _world()
    request = validate(SendEmailRequest, dict(body)).to_domain(dict(body))
    world.single_send.submit(world.preview, request, None, lambda _: "{}")
    return world


def _accepts_batch(body: Mapping[str, Json]) -> bool:
    world = _world()
    try:
        item = validate(SendEmailRequest, dict(body)).to_domain(dict(body))
        batch = BatchRequest(body_hash="b", count=1, items=(item,))
        world.batch_send.submit(world.preview, batch, None, lambda _: "{}")
    except ServiceError:
        return bool(world.store.queue)
    return True


def _world() -> World:
    world = World()
    world.store.keys = {
        digest: replace(key, self_service=True)
        for digest, key in world.store.keys.items()
        if digest == builders.preview_key(world.preview).digest
    }
    return world


def _faults(world: World, usual: object) -> Iterator[str]:
    """Yield what is wrong with an accepted email.

    It has a stranger's words or links, differs from the starter's own email, goes to more than one
    recipient, or does not say that it is a test.
    """
    shown = _shown(world)
    message = world.message()
    parsed = _built(world)
    if any(mark in repr(shown).lower() for mark in MARKS):
        yield "marked"
    if shown != usual:
        yield "different"
    if (*message.to, *message.cc, *message.bcc) != tuple(message.to[:1]):
        yield "recipients"
    if not parsed["Subject"].startswith(TEST_PREFIX) or not all(
        "This is a test." in part.get_content()
        for part in parsed.walk()
        if part.get_content_maintype() == "text"
    ):
        yield "no test"


def _shown(world: World) -> object:
    """Return an email as a recipient sees it: fields and contents, but not who and which it is."""
    parsed = _built(world)
    fields = [
        (name, value)
        for name, value in parsed.items()
        if name not in {"To", "Date", "Content-Type"}
    ]
    parts = [
        (part.get_content_type(), part.get_filename(), part.get_content())
        for part in parsed.walk()
        if not part.is_multipart()
    ]
    return fields, parts, world.message().subject, world.message().from_name


def _built(world: World) -> EmailMessage:
    (job,) = world.store.queue
    mail = stores.FakeJobs(world.store).load(job)
    return message_from_bytes(build_raw(mail, world.message()), policy=policy.default)


def run(_: Options) -> Tally:
    """Try every starter."""
    return attack()
