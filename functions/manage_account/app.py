"""GET and PATCH /v1/account, its log, alerts, and /v1/suppressions…: the account of a caller."""

from pillarbox.application.accounts.suppressions import SuppressionImport
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.account_log import LogPart
from pillarbox.domain.accounts.key import (
    ACCOUNT_READ,
    ACCOUNT_WRITE,
    SUPPRESSIONS_READ,
    SUPPRESSIONS_WRITE,
)
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.sign_in.session import MemberPrincipal
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
    read_account_changes,
    read_address,
)
from pillarbox.http.app import App, build_app, entrypoint, routes
from pillarbox.http.callers import managing, members
from pillarbox.http.messages.replies import Reply, reply, reply_nothing
from pillarbox.http.query import read_query
from pillarbox.http.requests import read_caller
from pillarbox.http.sign_in.wire import read_session
from pillarbox.http.wire import read_body
from pillarbox.wiring import load, services

app = build_app()
route = routes(app)


@route("GET /v1/account", managing(ACCOUNT_READ), response=AccountDetail)
def get_account() -> Reply:
    """Get the account.

    The account with its plan, its limits and what is left of them, and its brand.
    """
    return _reply_account(_account(ACCOUNT_READ))


@route(
    "PATCH /v1/account", managing(ACCOUNT_WRITE), body=ChangeAccountRequest, response=AccountDetail
)
def change_account() -> Reply:
    """Change the account.

    A field that is left out does not change, and an empty text removes a setting. Plan and limits
    are the operator's.
    """
    owner, changes = _member(ACCOUNT_WRITE), read_account_changes(app.current_event)
    account_id = owner.account.account_id
    changed = services().accounts.update(account_id, changes, member=owner.actor)
    return _reply_account(changed)


@route(
    "POST /v1/account/resume", members(ACCOUNT_WRITE), body=ResumeRequest, response=AccountDetail
)
def resume_sending() -> Reply:
    """End a pause.

    Ends a pause of the account, a key or a template, and names what caused it. An owner can do that
    once in 30 days for each of them; afterwards the operator can. What was sent before does not
    count any more.

    Errors: `sending_paused`.
    """
    owner = _owner()
    body = read_body(app.current_event, ResumeRequest)
    account_id = owner.account.account_id
    resumed = services().resuming.by_owner(account_id, body.key, body.cause, by=owner.actor)
    return _reply_account(resumed)


@route("GET /v1/account/log", managing(ACCOUNT_READ), query=LogQuery, response=AccountLog)
def get_account_log() -> Reply:
    """Get the account's log.

    What operators of the service did to the account: changes of its plan, its limits and other
    settings, and suspensions. Who created, changed and removed its keys, members, webhook
    endpoints, senders and domains. `part=calls` shows the calls of keys that may change something,
    and who read content, for 400 days. With `key` it is what that key did and those that come from
    it; a part may then be short and have a next one.

    Errors: `key_not_found`.
    """
    account_id = _account(ACCOUNT_READ).account_id
    query = read_query(app.current_event, LogQuery)
    tree = services().key_tree(account_id, query.key) if query.key else None
    page = services().accounts.log_page(
        account_id, query.limit, query.cursor, calls=query.part is LogPart.CALLS, by=tree
    )
    return reply(AccountLog.of(page))


@route("GET /v1/account/alerts", managing(ACCOUNT_WRITE), response=AlertDetail)
def get_alerts() -> Reply:
    """Get the alerts.

    What the owners of the account hear of, and how. At first they get an email about everything.
    """
    return _reply_alerts(_account(ACCOUNT_WRITE).account_id)


@route(
    "PATCH /v1/account/alerts",
    managing(ACCOUNT_WRITE),
    body=ChangeAlertsRequest,
    response=AlertDetail,
)
def change_alerts() -> Reply:
    """Change the alerts.

    Turns kinds of alerts on or off, and sets the incoming webhook of a room in Slack or Teams. Its
    URL is checked like that of a webhook endpoint.

    Errors: `rate_limit_exceeded`.
    """
    owner = _member(ACCOUNT_WRITE)
    changes = read_body(app.current_event, ChangeAlertsRequest).changes
    services().alert_choices.change(owner.account.account_id, changes, by=owner.actor)
    return _reply_alerts(owner.account.account_id)


@route("POST /v1/account/alerts/test", members(ACCOUNT_WRITE), response=AlertTestResult)
def test_alerts() -> Reply:
    """Send a test alert.

    Posts a test to the chat, and sends one by email in a minute or two.

    Errors: `rate_limit_exceeded`.
    """
    return reply(AlertTestResult.of(services().alert_choices.test(_owner().account)))


@route(
    "GET /v1/suppressions",
    managing(SUPPRESSIONS_READ),
    query=SuppressionsQuery,
    response=SuppressionPage,
)
def list_suppressions() -> Reply:
    """List suppressions.

    The addresses that the account does not send to, sorted by address.
    """
    account_id = _account(SUPPRESSIONS_READ).account_id
    query = read_query(app.current_event, SuppressionsQuery)
    page = services().suppression_list.page(account_id, query.start, query.cursor, query.limit)
    return reply(SuppressionPage.of(page))


@route(
    "POST /v1/suppressions",
    managing(SUPPRESSIONS_WRITE),
    body=AddSuppressionsRequest,
    response=AddedSuppressions,
    status=201,
)
def add_suppressions() -> Reply:
    """Add suppressions.

    Suppresses an address, or many at once: of these, the valid ones are added and the others are
    returned. An earlier suppression keeps its reason.

    Errors: `rate_limit_exceeded`.
    """
    account_id = _account(SUPPRESSIONS_WRITE).account_id
    body = read_body(app.current_event, AddSuppressionsRequest)
    if body.addresses is not None:
        added = services().suppression_list.add_all(account_id, body.addresses)
    else:
        one = services().suppression_list.add(account_id, body.address or "")
        added = SuppressionImport([one], [])
    return reply(AddedSuppressions.of(added), 201)


@route("DELETE /v1/suppressions/{address}", managing(SUPPRESSIONS_WRITE))
def remove_suppression(address: str) -> Reply:
    """Remove a suppression.

    The account can send to the address again. It also leaves Amazon SES's own list.

    Errors: `suppression_not_found`, `rate_limit_exceeded`.
    """
    account_id = _account(SUPPRESSIONS_WRITE).account_id
    services().suppression_list.remove(account_id, read_address(address))
    return reply_nothing()


def _reply_account(account: Account) -> Reply:
    return reply(account_detail(account, services().account_usage.of(account)))


def _reply_alerts(account_id: str) -> Reply:
    settings, last = services().alert_choices.of(account_id)
    return reply(
        AlertDetail.of(settings, last_post=last, chat_allowed=services().settings.webhooks)
    )


def _owner() -> MemberPrincipal:
    token = read_session(app.current_event)
    return services().session_authentication.authenticate_member(token, ACCOUNT_WRITE)


def _account(scope: str) -> Account:
    return _member(scope).account


def _member(scope: str) -> Principal | MemberPrincipal:
    return services().caller_authentication.manage(read_caller(app.current_event), scope)


def _resend() -> App:
    from pillarbox.http.resend.suppressions import suppression_routes  # noqa: PLC0415  few requests

    return suppression_routes(services)


load(lambda it: (it.caller_authentication, it.accounts, it.account_usage))
lambda_handler = entrypoint(app, {"/resend/": _resend})
