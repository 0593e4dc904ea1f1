"""The doctor's checks of a stack: each compares what was read with what the service needs.

They are like those of `pillarbox.application.operator.checks`, which need no rights to the stack.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Final

from admin.use_cases.ports import TableProtectionState
from admin.use_cases.scale import RESERVE, Scale, deploy_for
from pillarbox.application.operator.checks import REVERT_DRIFT, Finding, Verdict
from pillarbox.application.operator.ports import ConfigurationSet, SendingStatus
from pillarbox.domain.accounts.account import SHARD_COUNTS, SHARD_RATE, Account
from pillarbox.domain.errors import Json

#: Why SES must list an address.
_SUPPRESSED: Final = frozenset({"BOUNCE", "COMPLAINT"})
#: The fewest concurrent functions to leave for requests, events and statistics.
_FREE_FUNCTIONS: Final = 50
#: How much faster than on average an account is assumed to send at times in its busiest hour.
_BURST: Final = 4
#: In this time the sweep of a new stack has reported a number, which it does each six hours.
_FIRST_DATA: Final = timedelta(hours=7)
_RENEW: Final = timedelta(days=21)
_RENEW_NOW: Final = timedelta(days=7)
#: AWS refuses requests that are signed five minutes off.
_SLOW_CLOCK, _WRONG_CLOCK = timedelta(seconds=30), timedelta(seconds=240)


def check_address(status_code: int, reply: Json) -> Iterator[Finding]:
    """Check the reply to a request without a key.

    Only the API itself answers with its own 401, so everything in front of it works.
    """
    match reply:
        case {"error": {"code": "missing_api_key"}} if status_code == HTTPStatus.UNAUTHORIZED:
            yield Finding("address", Verdict.PASS, "The API answers at its public address.")
        case _:
            message = f"A request without a key got {status_code} instead of the API's 401."
            remedy = "Check CloudFront, then the firewall (WAF), then API Gateway."
            yield Finding("address", Verdict.FAIL, message, remedy)


def check_stored_address(stored: str | None, address: str) -> Finding:
    """Compare the address that links in emails have with that of the stack."""
    if stored == address:
        return Finding("address", Verdict.PASS, f"Links in emails lead to {address}.")
    message = (
        f"Links in emails lead to {stored} and not to {address}."
        if stored
        else "The functions do not know the address of the service: no code or invitation is sent."
    )
    return Finding("address", Verdict.FAIL, message, "Run `pillarbox deploy`, which stores it.")


def check_clock(status: SendingStatus) -> Iterator[Finding]:
    """Compare this machine's clock with AWS's."""
    if status.provider_time is None:
        yield Finding("clock", Verdict.SKIPPED, "SES's response had no date.")
        return
    offset = abs(status.local_time - status.provider_time)
    message = f"This machine's clock differs from AWS's by {offset.total_seconds():.0f} seconds."
    remedy = "Set this machine's clock (NTP): AWS refuses requests signed five minutes off."
    if offset > _WRONG_CLOCK:
        yield Finding("clock", Verdict.FAIL, message, remedy)
    elif offset > _SLOW_CLOCK:
        yield Finding("clock", Verdict.WARN, message, remedy)
    else:
        yield Finding("clock", Verdict.PASS, message)


def check_rate(status: SendingStatus, scale: Scale, share: int) -> Iterator[Finding]:
    """Check whether the stack can use its share of the sending rate."""
    rate = status.max_rate * share / 100
    part = "" if share == 100 else f" ({share} % of SES's {status.max_rate:g})"  # noqa: PLR2004  all
    message = f"{rate:g} recipients per second{part} for {scale.workers} workers."
    if rate > scale.rate:
        yield Finding("rate", Verdict.WARN, message, deploy_for(rate))
    else:
        yield Finding("rate", Verdict.PASS, message)


def check_suppression(
    configuration_set: ConfigurationSet | None, status: SendingStatus
) -> Iterator[Finding]:
    """Check that SES uses its lists of the AWS account and of tenants, which follow ours.

    For a reason that the configuration set leaves out, SES uses its list of all customers, which
    only SES clears (developer guide, "Using configuration set-level suppression").
    """
    name = "suppression"
    if configuration_set is None:
        yield Finding(name, Verdict.SKIPPED, "SES does not know the configuration set.")
        return
    own = configuration_set.suppresses
    reasons = status.suppresses if own is None else own
    if missing := " and ".join(sorted(_SUPPRESSED - reasons)):
        message = f"SES uses its list of all customers for {missing}. Only SES clears that list."
        yield Finding(name, Verdict.FAIL, message, REVERT_DRIFT)
    elif own is None:
        message = "The configuration set has lost its suppression options: the account's apply."
        yield Finding(name, Verdict.WARN, message, REVERT_DRIFT)
    else:
        yield Finding(name, Verdict.PASS, "SES's suppression lists follow ours.")


def check_shares(shares: Mapping[str, int]) -> Finding:
    """Check whether the stacks of a region together use more than SES's rate."""
    total = sum(shares.values())
    parts = ", ".join(f"{name} {share} %" for name, share in sorted(shares.items()))
    message = f"The stacks of this account and region use {total} % of SES's rate: {parts}."
    if total > 100:  # noqa: PLR2004  all of it
        remedy = "Deploy them with SesRateShare, such as 90 and 10, or SES throttles both at times."
        return Finding("rate", Verdict.WARN, message, remedy)
    return Finding("rate", Verdict.PASS, message)


def check_concurrency(limit: int, scale: Scale) -> Iterator[Finding]:
    """Check whether requests get a function while all queues and the stream have work."""
    message = f"This AWS account runs {limit} functions at a time; {scale.describe()}."
    if limit - scale.total < _FREE_FUNCTIONS:
        yield Finding(
            "functions",
            Verdict.WARN,
            message,
            f"Ask for a limit of {scale.total + _FREE_FUNCTIONS} or more (Service Quotas, Lambda,"
            " Concurrent executions). New accounts have 10, and AWS refuses requests beyond the"
            " limit.",
        )
    else:
        yield Finding("functions", Verdict.PASS, message)


def check_reserve(scale: Scale) -> Finding:
    """Check whether a flood of requests can take the functions that deliver."""
    if scale.reserved:
        message = f"{scale.reserved} functions are reserved for delivery and events."
        return Finding("functions", Verdict.PASS, message)
    message = "No function is reserved for delivery: a flood of requests can use all of them."
    return Finding("functions", Verdict.WARN, message, RESERVE)


def check_table(state: TableProtectionState, name: str) -> Iterator[Finding]:
    """Check whether a table is protected against loss, and whether old items expire."""
    if state.point_in_time_recovery:
        message = f"{name} can be restored to any second of the last 35 days."
        yield Finding("table", Verdict.PASS, message)
    else:
        message = f"{name} has no point-in-time recovery."
        yield Finding("table", Verdict.FAIL, message, REVERT_DRIFT)
    if state.deletion_protection:
        yield Finding("table", Verdict.PASS, f"{name} is protected against deletion.")
    else:
        yield Finding("table", Verdict.FAIL, f"{name} can be deleted.", REVERT_DRIFT)
    if state.expiry_attribute == "expires_at":
        yield Finding("table", Verdict.PASS, f"{name} deletes expired items.")
    else:
        message = (
            f"{name} does not delete expired items: its TTL attribute is"
            f" {state.expiry_attribute}, not expires_at."
        )
        yield Finding("table", Verdict.FAIL, message, REVERT_DRIFT)


def check_shards(account: Account, busiest_hour: int) -> Iterator[Finding]:
    """Check whether an account's shards take the emails of its busiest hour."""
    rate = busiest_hour / 3600 * _BURST
    fitting = next((count for count in SHARD_COUNTS if rate <= count * SHARD_RATE), 256)
    if fitting > account.shards:
        yield Finding(
            "shards",
            Verdict.WARN,
            f"{account.account_id}: {busiest_hour} emails in an hour are much for the"
            f" {account.shards} partitions of the table that the account uses.",
            f"pillarbox account shard {account.account_id} {fitting}",
        )


def check_alarms(
    firing: Sequence[str], silent: Mapping[str, timedelta], subscribers: int
) -> Iterator[Finding]:
    """Check whether an alarm fires or lacks data, and whether somebody gets notified."""
    for name in firing:
        remedy = "See docs/alarms.md."
        yield Finding("alarms", Verdict.FAIL, f"In alarm: {name}", remedy)
    for name, duration in silent.items():
        if duration < _FIRST_DATA:
            message = f"No data yet: {name}"
            remedy = "A new stack has data when the sweep has reported, each six hours."
            yield Finding("alarms", Verdict.WARN, message, remedy)
        else:
            message = f"No data for {duration // timedelta(hours=1)} hours: {name}"
            remedy = "See docs/alarms.md."
            yield Finding("alarms", Verdict.FAIL, message, remedy)
    if not firing:
        yield Finding("alarms", Verdict.PASS, "No alarm fires.")
    if subscribers:
        yield Finding("alarms", Verdict.PASS, f"{subscribers} subscribed to the alarms.")
    else:
        remedy = "Subscribe: pillarbox alarms subscribe ADDRESS, and confirm AWS's email."
        yield Finding("alarms", Verdict.WARN, "The alarms' topic has no subscriber.", remedy)


def check_certificate(expiry: datetime, now: datetime) -> Iterator[Finding]:
    """Check how long SMTP clients will trust the relay's certificate."""
    left = expiry - now
    message = f"The relay's certificate expires on {expiry:%Y-%m-%d}, in {left.days} days."
    remedy = "Put a new certificate into the relay's secret. The containers use it within minutes."
    if left < _RENEW_NOW:
        yield Finding("relay", Verdict.FAIL, message, remedy)
    elif left < _RENEW:
        yield Finding("relay", Verdict.WARN, message, remedy)
    else:
        yield Finding("relay", Verdict.PASS, message)
