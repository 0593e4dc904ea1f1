"""Without a confirmation a key that asks sends nothing, by any route."""

import json
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from random import Random
from types import SimpleNamespace
from typing import Any, Final

import pytest
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.application.authentication import Authentication
from pillarbox.domain.accounts.key import AgentSettings, digest_of_key
from pillarbox.domain.errors import ServiceError
from pillarbox.http.accept import parse_send
from pillarbox.http.batch_body import parse_batch
from pillarbox.http.mcp.protocol import STATELESS, answer
from pillarbox.http.messages.replies import batch_result, send_result
from tests.examples import examples
from tests.fakes.world import World

SEQUENCES: Final = examples(20)
_ELICITATION: Final[dict[str, Any]] = {"elicitation": {"form": {}}}
_MAIL: Final[dict[str, Any]] = {"to": "ann@example.com", "subject": "a", "html": "<p>b</p>"}
#: The emails that an agent wants to send: a tool and its arguments.
_WISHES: Final[list[tuple[str, dict[str, Any]]]] = [
    ("send_email", _MAIL),
    ("send_email", _MAIL | {"to": "bob@example.com"}),
    ("send_email", _MAIL | {"idempotencyKey": "k"}),
    ("send_batch", {"messages": [_MAIL]}),
    ("send_batch", {"messages": [_MAIL, _MAIL | {"subject": "c"}]}),
]


@dataclass
class Agent:
    """An agent that tries things at random, and what it was given."""

    random: Random
    world: World = field(default_factory=World)
    #: By the token: its wish, and its minute.
    tokens: dict[str, tuple[int, int]] = field(default_factory=dict)
    minute: int = 0

    def __post_init__(self) -> None:
        digest = digest_of_key(self.world.live)
        settings = AgentSettings(recipients=("*",))
        self.world.store.keys[digest] = replace(self.world.store.keys[digest], agent=settings)

    def act(self) -> bool:
        """Try something; return whether a user confirmed it."""
        match self.random.randrange(8):
            case 0:
                wait = self.random.randrange(12)
                self.minute += wait
                self.world.advance(timedelta(minutes=wait))
                return False
            case 1:
                self._avoid()
                return False
        return self._call()

    def _avoid(self) -> None:
        """Send by a route that cannot ask."""
        world, key = self.world, self.world.live
        with suppress(ServiceError):
            match self.random.randrange(3):
                case 0:
                    world.single_send.submit(key, parse_send(_MAIL), None, send_result)
                case 1:
                    batch = parse_batch({"messages": [_MAIL]})
                    world.batch_send.submit(key, batch, None, batch_result)
                case _:
                    world.smtp_submission.authenticate(key)

    def _call(self) -> bool:
        """Call a tool, perhaps with some token and an answer."""
        wish, can_ask = self.random.randrange(len(_WISHES)), self.random.random() < 0.5
        token = self.random.choice([*self.tokens, *self.tokens, "x", "a" * 76])
        given = self.tokens.get(token)
        if given and self.random.random() < 0.7:
            wish = given[0]
        tool, arguments = _WISHES[wish]
        params: dict[str, Any] = {"name": tool, "arguments": dict(arguments)}
        how = self.random.choice(["accept", "accept", "accept", "decline", "nothing", "stateless"])
        if how != "nothing":
            action = "accept" if how == "stateless" else how
            params["inputResponses"] = {"confirm": {"action": action}}
            if how != "stateless":
                params["requestState"] = token
        if self.random.random() < 0.1:
            params["arguments"]["dryRun"] = True
        self._learn(wish, self._answer(params, can_ask=can_ask))
        if given is None or "dryRun" in params["arguments"]:
            return False
        of, minute = given
        return of == wish and how == "accept" and self.minute - minute <= 10

    def _answer(self, params: dict[str, Any], *, can_ask: bool) -> dict[str, Any]:
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientCapabilities": _ELICITATION if can_ask else {},
        }
        event: dict[str, Any] = {
            "headers": {
                "X-API-Key": self.world.live,
                "MCP-Protocol-Version": STATELESS,
                "Mcp-Method": "tools/call",
                "Mcp-Name": params["name"],
            },
            "requestContext": {"requestId": "r"},
            "body": json.dumps(
                {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            ),
        }
        world = self.world
        services: Any = SimpleNamespace(
            authentication=Authentication(world.ports.directory, world.ports.key_check),
            single_send=world.single_send,
            batch_send=world.batch_send,
        )
        reply = answer(APIGatewayProxyEvent(event), services, self.world.now)
        result: dict[str, Any] = json.loads(reply.body or "")["result"]
        return result

    def _learn(self, wish: int, result: dict[str, Any]) -> None:
        """Remember a token that the server gave."""
        if state := result.get("requestState"):
            self.tokens[state] = (wish, self.minute)


@pytest.mark.slow
def test_nothing_is_sent_without_a_confirmation() -> None:
    """In random sequences each email follows a yes to that very email.

    The sequences also send: otherwise the test would show nothing.
    """
    confirmed_sends = 0
    for seed in range(SEQUENCES):
        agent = Agent(Random(seed))  # noqa: S311  no secret
        for _ in range(agent.random.randrange(30, 60)):
            before = len(agent.world.store.messages)
            confirmed = agent.act()
            sent = len(agent.world.store.messages) - before
            assert confirmed or not sent, f"seed {seed}"
            confirmed_sends += sent
    assert confirmed_sends > SEQUENCES


def test_a_confirmation_sends_once() -> None:
    """A token that is used again and again, also in the next hour, sends no second email."""
    agent = Agent(Random(0))  # noqa: S311  no secret
    agent.world.advance(timedelta(minutes=50 - agent.world.now.minute))
    params: dict[str, Any] = {"name": "send_email", "arguments": _MAIL}
    state = agent._answer({**params}, can_ask=True)["requestState"]
    answered = {"inputResponses": {"confirm": {"action": "accept"}}, "requestState": state}
    for _ in range(3):
        agent._answer(params | answered, can_ask=True)
        agent.world.advance(timedelta(minutes=5))
    assert len(agent.world.store.messages) == 1
