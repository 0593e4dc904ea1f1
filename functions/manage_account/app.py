"""GET and PATCH /v1/account, its log, alerts, and /v1/suppressions…: the account of a caller."""

from typing import Any

from pillarbox.application.accounts.suppressions import SuppressionImport
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.account_log import LogPart
from pillarbox.domain.accounts.key import (
    ACCOUNT_READ,
    ACCOUNT_WRITE,
    SUPPRESSIONS_READ,
    SUPPRESSIONS_WRITE,
)
from pillarbox.http.accounts.replies import (
    AccountDetail,
    AccountLog,
    AddedSuppressions,
    AlertDetail,
    AlertTestResult,
    SuppressionPage,
    account_detail,
)
from pillarbox.http.accounts.wire import (
    AddSuppressionsRequest,
    ChangeAccountRequest,
    ChangeAlertsRequest,
    LogQuery,
    ResumeRequest,
    SuppressionsQuery,
    read_address,
)
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import Manager, MemberCaller, managing, members
from pillarbox.wiring import load, services

app = build_app()
route = routes(app, services)


@route("GET /v1/account", managing(ACCOUNT_READ), response=AccountDetail)
def get_account(principal: Manager) -> dict[str, Any]:
    """Get the account.

    The account with its plan, its limits and what is left of them, and its brand.
    """
    return _detail(principal.account)


@route(
    "PATCH /v1/account", managing(ACCOUNT_WRITE), body=ChangeAccountRequest, response=AccountDetail
)
def change_account(owner: Manager, body: ChangeAccountRequest) -> dict[str, Any]:
    """Change the account.

    A field that is left out does not change, and an empty text removes a setting. Plan and limits
    are the operator's.
    """
    account_id = owner.account.account_id
    changed = services().accounts.update(account_id, body.changes, member=owner.actor)
    return _detail(changed)


@route(
    "POST /v1/account/resume", members(ACCOUNT_WRITE), body=ResumeRequest, response=AccountDetail
)
def resume_sending(owner: MemberCaller, body: ResumeRequest) -> dict[str, Any]:
    """End a pause.

    Ends a pause of the account, a key or a template, and names what caused it. An owner can do that
    once in 30 days for each of them; afterwards the operator can. What was sent before does not
    count any more.

    Errors: `sending_paused`.
    """
    account_id = owner.account.account_id
    resumed = services().resuming.by_owner(account_id, body.key, body.cause, by=owner.actor)
    return _detail(resumed)


@route("GET /v1/account/log", managing(ACCOUNT_READ), query=LogQuery, response=AccountLog)
def get_account_log(principal: Manager, query: LogQuery) -> dict[str, Any]:
    """Get the account's log.

    What operators of the service did to the account: changes of its plan, its limits and other
    settings, and suspensions. Who created, changed and removed its keys, members, webhook
    endpoints, senders and domains. `part=calls` shows the calls of keys that may change something,
    and who read content, for 400 days. With `key` it is what that key did and those that come from
    it; a part may then be short and have a next one.

    Errors: `key_not_found`.
    """
    account_id = principal.account.account_id
    tree = services().key_tree(account_id, query.key) if query.key else None
    page = services().accounts.log_page(
        account_id, query.limit, query.cursor, calls=query.part is LogPart.CALLS, by=tree
    )
    return AccountLog.of(page)


@route("GET /v1/account/alerts", managing(ACCOUNT_WRITE), response=AlertDetail)
def get_alerts(principal: Manager) -> dict[str, Any]:
    """Get the alerts.

    What the owners of the account hear of, and how. At first they get an email about everything.
    """
    return _alerts_of(principal.account.account_id)


@route(
    "PATCH /v1/account/alerts",
    managing(ACCOUNT_WRITE),
    body=ChangeAlertsRequest,
    response=AlertDetail,
)
def change_alerts(owner: Manager, body: ChangeAlertsRequest) -> dict[str, Any]:
    """Change the alerts.

    Turns kinds of alerts on or off, and sets the incoming webhook of a room in Slack or Teams. Its
    URL is checked like that of a webhook endpoint.

    Errors: `rate_limit_exceeded`.
    """
    services().alert_choices.change(owner.account.account_id, body.changes, by=owner.actor)
    return _alerts_of(owner.account.account_id)


@route("POST /v1/account/alerts/test", members(ACCOUNT_WRITE), response=AlertTestResult)
def test_alerts(owner: MemberCaller) -> dict[str, Any]:
    """Send a test alert.

    Posts a test to the chat, and sends one by email in a minute or two.

    Errors: `rate_limit_exceeded`.
    """
    return AlertTestResult.of(services().alert_choices.test(owner.account))


@route(
    "GET /v1/suppressions",
    managing(SUPPRESSIONS_READ),
    query=SuppressionsQuery,
    response=SuppressionPage,
)
def list_suppressions(principal: Manager, query: SuppressionsQuery) -> dict[str, Any]:
    """List suppressions.

    The addresses that the account does not send to, sorted by address.
    """
    account_id = principal.account.account_id
    page = services().suppression_list.page(account_id, query.start, query.cursor, query.limit)
    return SuppressionPage.of(page)


@route(
    "POST /v1/suppressions",
    managing(SUPPRESSIONS_WRITE),
    body=AddSuppressionsRequest,
    response=AddedSuppressions,
    status=201,
)
def add_suppressions(principal: Manager, body: AddSuppressionsRequest) -> dict[str, Any]:
    """Add suppressions.

    Suppresses an address, or many at once: of these, the valid ones are added and the others are
    returned. An earlier suppression keeps its reason.

    Errors: `rate_limit_exceeded`.
    """
    account_id = principal.account.account_id
    if body.addresses is not None:
        added = services().suppression_list.add_all(account_id, body.addresses)
    else:
        one = services().suppression_list.add(account_id, body.address or "")
        added = SuppressionImport([one], [])
    return AddedSuppressions.of(added)


@route("DELETE /v1/suppressions/{address}", managing(SUPPRESSIONS_WRITE))
def remove_suppression(principal: Manager, address: str) -> None:
    """Remove a suppression.

    The account can send to the address again. It also leaves Amazon SES's own list.

    Errors: `suppression_not_found`, `rate_limit_exceeded`.
    """
    account_id = principal.account.account_id
    services().suppression_list.remove(account_id, read_address(address))


def _detail(account: Account) -> dict[str, Any]:
    return account_detail(account, services().account_usage.of(account))


def _alerts_of(account_id: str) -> dict[str, Any]:
    settings, last = services().alert_choices.of(account_id)
    return AlertDetail.of(settings, last_post=last, chat_allowed=services().settings.webhooks)


load(lambda it: (it.caller_authentication, it.accounts, it.account_usage))
lambda_handler = entrypoint(app, services, resend="resend.suppressions:suppression_routes")
