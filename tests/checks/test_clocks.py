"""Comparisons of two machines' times: each has the margin, or a reason to need none."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.loops import for_each

ROOT: Final = Path(__file__).parents[2]
#: Where the programs are, and what the names of their modules begin with.
PROGRAMS: Final = {
    "": ROOT / "layers" / "shared" / "pillarbox",
    **{f"{name}/": ROOT / name for name in ("functions", "relay", "front")},
}
#: What the names of times and of clocks end with.
_TIME: Final = re.compile(
    r"(.*_)?(at|until|since|deadline|now|moment|due|clock|latest|newest|oldest|created|updated"
    r"|expires|expiry|monotonic|timestamp|elapsed|waited)"
)
#: A condition of the table that compares an attribute with a time.
_CONDITION: Final = re.compile(r"[<>]=? :(now|before|at|until|moment|latest)\b")
_ORDER: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_MARGIN: Final = "CLOCK_MARGIN"

_ONE_CLOCK: Final = "both times are of one process"
_STORED: Final = "the order of times that are stored, whoever looks"
_SLACK: Final = "the wait is longer than it must be, by more than the margin"
_SOON: Final = "what happens a little earlier or later harms nobody"
_PACE: Final = "a wrong clock sends a little earlier or later, and SES's own limit holds"
_A_DAY: Final = "a key is forgotten after a day, a little earlier or later"
_MORE_DRAINS: Final = "it queues a drain too many, or leaves the events to one that is queued"

#: Why a comparison needs no margin of its own, by module, function and text.
REASONS: Final = {
    "adapters/dynamodb/messages/claims.py: replace: now < stored.expires_at": _A_DAY,
    "domain/messages/mail.py: is_late: now - self.queued_at"
    " > (URGENT_LATE if self.urgent else LATE)": _SOON,
    "adapters/dynamodb/name_leases.py: take: attribute_not_exists(#until)"
    " OR #until <= :now": "a lease is 30 seconds longer than a request runs",
    "application/operator/account_deletion.py: delete: self.clock() >= until": _ONE_CLOCK,
    "application/operator/account_deletion.py: _deletable: wait > timedelta(0)": _SLACK,
    "application/sending/claiming.py: acquire: now < stored.leased_until": "LEASE has the margin",
    "application/sending/claiming.py: acquire: now >= stored.expires_at": _A_DAY,
    "adapters/dynamodb/messages/heartbeat.py: record: at < self._written + _RESOLUTION": _STORED,
    "adapters/dynamodb/messages/heartbeat.py: record: attribute_not_exists(pk)"
    " OR #at < :at": _STORED,
    "adapters/dynamodb/messages/heartbeat.py: take_probe: attribute_not_exists(pk)"
    " OR #at <= :before": _SOON,
    "adapters/direct.py: reusable: time() - self._used_at > _MAX_IDLE": _ONE_CLOCK,
    "adapters/ses/mailer.py: _connected: now - self._most_at > _IDLE": _ONE_CLOCK,
    "adapters/sqs/event_queue.py: _queue_may_hold_older_than: later - at > _GAP": _ONE_CLOCK,
    "adapters/sqs/event_queue.py: _queue_may_hold_older_than: reported[0] - at >= stay": _ONE_CLOCK,
    "consumer.py: consume_in_turns: monotonic() - started >= BUSY": _ONE_CLOCK,
    "consumer.py: handle_each: monotonic() - started >= BUSY": _ONE_CLOCK,
    "application/delivery/deliver.py: _hand_over: now >= job.deadline": _SOON,
    "application/delivery/deliver.py: _is_quiet: latest < due": "event_due has the margin",
    "application/delivery/deliver.py: _unsaved: waited >= RECORD_WAIT": _SLACK,
    "application/delivery/deliver_due.py: _run: (now := self.clock()) < schedule.due_at": (
        "an email is sent when it is due by the worker's clock"
    ),
    "application/delivery/deliver.py: _send: now >= job.deadline": _SOON,
    "application/delivery/deliver.py: _send: now >= message.lease.expires_at": _ONE_CLOCK,
    "application/delivery/deliver.py: _wait_for_outcome: now < due": "event_due has the margin",
    "application/delivery/deliver.py: _wait_for_outcome: now >= due": "event_due has the margin",
    "application/delivery/deliver.py: _wait_for_outcome: now < lease.expires_at": (
        "nothing is decided before the event is due"
    ),
    "application/delivery/deliver.py: _wait_for_outcome: now >= job.deadline": _SOON,
    "application/delivery/feedback.py: _free_all: self.clock() < ends_at": _ONE_CLOCK,
    "application/delivery/poison_jobs.py: set_aside: waited < RECORD_WAIT": _SLACK,
    "application/delivery/poison_jobs.py: set_aside: waited < VERSION_WAIT": _SLACK,
    "application/delivery/sweep.py: _give_up: now < event_due(lease)": "event_due has the margin",
    "application/delivery/sweep.py: _clear_spool: created_at(one) > oldest": _SLACK,
    "application/delivery/sweep.py: delete_page: account.records_from < until": _STORED,
    "adapters/dynamodb/replies.py: _read: now - self._read_at > _READ_EVERY": _ONE_CLOCK,
    "adapters/dynamodb/replies.py: _read: now - from_text(item['made']) >= _KEY_LIFE": _SOON,
    "adapters/dynamodb/replies.py: _read: now - from_text(item['made']) < 2 * _READ_EVERY": (
        "it waits twice as long as processes remember the keys"
    ),
    "application/kept.py: find: self.clock() >= until": _SOON,
    "application/received.py: page: self.clock() < mail.kept_until": _SOON,
    "application/received.py: find: now >= mail.kept_until": _SOON,
    "application/sending/answering.py: _prepare: now >= received.kept_until": _SOON,
    "application/webhooks/announce.py: _is_recent: self.clock() < written_at + _READ_AGAIN_FOR": (
        "a quarter of an hour has no use for seconds"
    ),
    "application/webhooks/attempts.py: is_slow: self._ports.clock() - started >= _PATIENCE": (
        _ONE_CLOCK
    ),
    "application/webhooks/post.py: _refusal: now < (health.drain_until or now)": (
        "LEASE has the margin"
    ),
    "application/webhooks/post.py: _tell_if_late: max(health.slow_since, oldest.replayed_at or"
    " oldest.at) > now - _EVENTS_LATE": "an hour has no use for seconds",
    "application/webhooks/post.py: _must_drain: health.probe_at < now - _PROBE_OVERDUE": (
        _MORE_DRAINS
    ),
    "application/webhooks/post.py: _must_drain: health.slow_since < now - DRAIN_LATE": _MORE_DRAINS,
    "application/webhooks/post.py: _must_drain: now < health.drain_until": _MORE_DRAINS,
}
#: The same for all of a module or package, with how many it has, so that a new one is seen.
OF_A_PACKAGE: Final = {
    "adapters/dns.py": (2, _ONE_CLOCK),
    "adapters/dynamodb/accounts/api_keys.py": (2, _STORED),
    "adapters/dynamodb/history": (3, _STORED),
    "adapters/dynamodb/messages/token_bucket.py": (14, _PACE),
    "adapters/dynamodb/messages/quotas.py": (2, _ONE_CLOCK),
    "adapters/dynamodb/messages/sending_rate.py": (13, _PACE),
    "adapters/dynamodb/service_address.py": (1, _ONE_CLOCK),
    "adapters/dynamodb/sign_in/codes.py": (3, _SOON),
    "adapters/dynamodb/webhooks/deliveries.py": (2, _SOON),
    "adapters/dynamodb/timer.py": (3, "a minute is read again until it is closed, or of one pass"),
    "adapters/dynamodb/webhooks/endpoints.py": (1, _SOON),
    "adapters/s3.py": (1, "objects are deleted days after the last job for them"),
    "adapters/secret_store.py": (1, _ONE_CLOCK),
    "adapters/aws_poster.py": (1, _ONE_CLOCK),
    "adapters/webhook_poster.py": (2, _ONE_CLOCK),
    "application/accounts": (7, _SOON),
    "application/accounts/alert_telling.py": (1, "an hour's wait has no use for seconds"),
    "application/delivery/holds.py": (3, _SOON),
    "application/delivery/sweep.py": (4, "the waits are many times the margin, or have it"),
    "application/waiting.py": (2, "`QUEUED_AHEAD` has minutes of slack, the rest is of one clock"),
    "application/history": (16, _STORED),
    "application/history/ranking.py": (2, _STORED),
    "application/sending/changes.py": (1, _SOON),
    "application/sending/confirmation.py": (1, _SOON),
    "application/sign_in": (7, _SOON),
    "application/templates/authoring.py": (1, "versions are no times"),
    "application/webhooks/enqueue_due.py": (1, _SOON),
    "domain/accounts/pause.py": (1, _SOON),
    "domain/accounts/key.py": (1, _SOON),
    "domain/accounts/account_domain.py": (1, _SOON),
    "domain/accounts/key_terms.py": (2, _SOON),
    "domain/accounts/account.py": (1, "sharding begins ten minutes ahead or more"),
    "domain/accounts/quota.py": (1, "counts are no times"),
    "domain/messages/mail.py": (1, _ONE_CLOCK),
    "domain/messages/schedule.py": (1, _SOON),
    "domain/messages/statistics.py": (2, _STORED),
    "domain/sign_in": (3, _SOON),
    "domain/webhooks": (4, _SOON),
    "http": (2, "times of one request"),
    "front": (3, _ONE_CLOCK),
    "relay": (7, _ONE_CLOCK),
}


def comparisons(source: str) -> Iterator[str]:
    """Yield the function and the text of each comparison of times that has no margin."""
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef):
            spans = _spans(function)
            for node in ast.walk(function):
                text = _compared(node, spans)
                if text and _MARGIN not in text:
                    yield f"{function.name}: {text}"


def _compared(node: ast.AST, spans: set[str]) -> str | None:
    """Return the text of a comparison of times, in the code or in a condition of the table."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], _ORDER):
        names = _names(node)
        return ast.unparse(node) if names & spans or any(map(_is_time, names)) else None
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.strip() if _CONDITION.search(node.value) else None
    return None


def _spans(function: ast.FunctionDef) -> set[str]:
    """Return the variables that hold the difference of two times."""
    return {
        target.id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.BinOp)
        and isinstance(node.value.op, ast.Sub)
        and any(map(_is_time, _names(node.value)))
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _names(node: ast.AST) -> set[str]:
    return {
        part.id if isinstance(part, ast.Name) else part.attr
        for part in ast.walk(node)
        if isinstance(part, ast.Name | ast.Attribute)
    }


def _is_time(name: str) -> bool:
    return _TIME.fullmatch(name) is not None


def _found() -> dict[str, list[str]]:
    """Return the comparisons of each key of the tables, and under "" those that have no key."""
    found = defaultdict(list)
    for prefix, directory in PROGRAMS.items():
        for path in sorted(directory.rglob("*.py")):
            module = prefix + path.relative_to(directory).as_posix()
            for comparison in comparisons(path.read_text()):
                text = f"{module}: {comparison}"
                packages = (module, *(parent.as_posix() for parent in Path(module).parents))
                wide = next((name for name in packages if name in OF_A_PACKAGE), "")
                found[text if text in REASONS else wide].append(text)
    return found


def test_each_comparison_of_times_has_the_margin_or_a_reason() -> None:
    """A time of another machine may be 30 seconds off (domain/timing.py)."""
    found = _found()
    assert found.pop("", []) == []
    assert sorted(REASONS.keys() - found.keys()) == [], "these reasons are for nothing"
    for name, (number, _) in OF_A_PACKAGE.items():
        assert len(found[name]) == number, found[name]


@for_each(
    "body",
    [
        "return now < other.lease_until",
        "return self._clock() >= self.deadline - WAIT",
        "return next_at is not None and next_at > self._ports.clock() + EARLY",
        "waited = self.clock() - sent_at\n    return waited >= WAIT",
        "return min(a.expires_at, b.expires_at) <= moment",
        "self.update(key, condition='#until > :now AND #done = :no')",
    ],
)
def test_a_comparison_without_the_margin_is_seen(body: str) -> None:
    assert len([*comparisons(f"def check(self, now):\n    {body}")]) == 1


@for_each("body", ["return now < until + CLOCK_MARGIN", "return size < most", "return at == now"])
def test_other_comparisons_are_left_alone(body: str) -> None:
    assert [*comparisons(f"def check(self, now):\n    {body}")] == []
