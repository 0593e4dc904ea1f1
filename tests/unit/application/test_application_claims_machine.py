"""One idempotency key under parallel requests, kills at any step and expired leases."""

from datetime import timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pillarbox.application.ports import StoredResponse
from pillarbox.domain.errors import ServiceError
from tests.examples import examples
from tests.fakes.actors import Actor
from tests.fakes.builders import DIGEST, HASH, OTHER_HASH, request
from tests.fakes.world import Killed, World

#: The maximum number of requests in one run; Lambda ends each of them after 30 s.
REQUESTS = 6


class OneKey(RuleBasedStateMachine):
    """Requests with one key and two bodies; each can be stopped before any of its calls."""

    @initialize()
    def start(self) -> None:
        self.world = World()
        self.actors: list[Actor] = []

    @rule(body=st.sampled_from([HASH, HASH, OTHER_HASH]))
    def send(self, body: str) -> None:
        if len(self.actors) < REQUESTS:
            send_request, world = request(body_hash=body), self.world
            self.actors.append(Actor(world, lambda: world.send(send_request, digest=DIGEST)))

    @precondition(lambda self: self.actors)
    @rule(data=st.data(), steps=st.integers(1, 4))
    def resume(self, data: st.DataObject, steps: int) -> None:
        actor = data.draw(st.sampled_from(self.actors))
        for _ in range(steps):
            if not actor.done:
                actor.step()

    @precondition(lambda self: self.actors)
    @rule(data=st.data())
    def kill(self, data: st.DataObject) -> None:
        data.draw(st.sampled_from(self.actors)).kill()

    @rule(seconds=st.sampled_from([1, 64, 65, 66]))
    def wait(self, seconds: int) -> None:
        """Let time pass; an owner past its lease may be stalled, not dead."""
        self.world.advance(timedelta(seconds=seconds))

    @invariant()
    def one_key_one_message(self) -> None:
        """There is at most one message, and every answer names it (promises 3 and 4)."""
        messages = list(self.world.store.messages.values())
        assert len(messages) <= 1
        for actor in self.actors:
            if isinstance(actor.result, StoredResponse):
                assert str(messages[0].message_id) in actor.result.body
            else:
                assert isinstance(actor.error, ServiceError | Killed | None)

    def teardown(self) -> None:
        """Let every request finish: the key has an answer, and one mail is sent."""
        for actor in self.actors:
            actor.finish()
        self.one_key_one_message()
        self.world.gate.watch = lambda _: None
        self.world.advance(timedelta(seconds=66))
        answered_hashes = [message.body_hash for message in self.world.store.messages.values()]
        body_hash = answered_hashes[0] if answered_hashes else HASH
        answer = self.world.send(request(body_hash=body_hash), digest=DIGEST)
        assert answer.replayed == bool(answered_hashes)
        self.one_key_one_message()
        self.world.settle()
        assert len(self.world.mailer.taken) == 1
        assert self.world.message().status == "sent"


OneKey.TestCase.settings = settings(
    max_examples=examples(50), stateful_step_count=25, deadline=None
)
test_one_key_makes_one_message = pytest.mark.slow(OneKey.TestCase)
