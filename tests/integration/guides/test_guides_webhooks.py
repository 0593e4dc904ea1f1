"""The receivers of docs/guides/webhooks.md accept what the service signs, and nothing else."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import httpx
import pytest

from pillarbox.domain.webhooks.endpoint import new_secret, rotated, signed_headers
from tests.integration.guides.programs import RECEIVERS, Command, each_of
from tests.needs import need_node_package, need_program
from tests.stack import PATIENCE, free_port, wait_for

EVENT = {
    "type": "email.bounced",
    "timestamp": "2026-01-01T12:00:02.317+00:00",
    "data": {"messageId": "019b-id", "recipient": "ada@example.com", "revision": 3},
}
BODY = json.dumps(EVENT).encode()
OLD = new_secret(datetime.now(UTC) - timedelta(days=30))


@dataclass(frozen=True)
class Receiver:
    """A running receiver that has the secret `OLD`."""

    url: str
    output: Path

    def post(self, body: bytes, headers: dict[str, str]) -> int:
        return httpx.post(self.url, content=body, headers=headers, timeout=PATIENCE).status_code

    def send(self, event_id: UUID, at: datetime, *, body: bytes = BODY) -> int:
        """POST what is signed for BODY; return the status."""
        return self.post(body, dict(signed_headers(event_id, BODY, [OLD], at)))

    @property
    def handled(self) -> list[str]:
        """The lines that the receiver printed for events."""
        lines = self.output.read_text().splitlines()
        return [line for line in lines if line.startswith("email.")]


@pytest.fixture(scope="module", params=each_of(RECEIVERS))
def receiver(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Receiver]:
    command: Command = request.param
    need_program(command[0])
    folder = tmp_path_factory.mktemp("receiver")
    if command[0] == "node":  # the package is beside the program, as in a project
        (folder / "node_modules").symlink_to(need_node_package("standardwebhooks", "1.1.1"))
        command = ("node", shutil.copy(command[1], str(folder)))
    port, output = free_port(), folder / "output"
    own = {"PORT": str(port), "WEBHOOK_SECRET": OLD.text, "TMPDIR": str(folder)}
    with output.open("wb") as file:
        process = subprocess.Popen(
            [part.replace("PORT", str(port)) for part in command],
            env=os.environ | own,
            stdout=file,
            stderr=subprocess.STDOUT,
            process_group=0,
        )
        running = Receiver(f"http://127.0.0.1:{port}/hooks", output)
        try:
            wait_for(lambda: _answers(running, process))
            yield running
        finally:
            os.killpg(process.pid, 9)  # `go run` has a child
            process.wait()


def _answers(receiver: Receiver, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, receiver.output.read_text()
    try:
        return receiver.post(b"{}", {}) == 400
    except httpx.TransportError:
        return False


def test_an_event_is_handled_once(receiver: Receiver) -> None:
    event_id, now, before = uuid4(), datetime.now(UTC), receiver.handled
    assert [receiver.send(event_id, now), receiver.send(event_id, now)] == [204, 204]
    wait_for(lambda: len(receiver.handled) > len(before))
    assert receiver.handled == [*before, "email.bounced 019b-id ada@example.com"]


def test_a_forged_event_is_refused(receiver: Receiver) -> None:
    now, before = datetime.now(UTC), receiver.handled
    other = dict(signed_headers(uuid4(), BODY, [new_secret(now)], now))
    assert receiver.send(uuid4(), now, body=BODY + b" ") == 400
    assert receiver.send(uuid4(), now - timedelta(minutes=6)) == 400
    assert receiver.post(BODY, other) == 400
    assert receiver.post(BODY, {}) == 400
    assert receiver.handled == before


def test_the_old_secret_verifies_during_a_rotation(receiver: Receiver) -> None:
    now = datetime.now(UTC)
    headers = dict(signed_headers(uuid4(), BODY, rotated([OLD], new_secret(now), now), now))
    assert len(headers["webhook-signature"].split()) == 2
    assert receiver.post(BODY, headers) == 204
