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
    AccountLog,
    AddedSuppressions,
    AlertDetail,
    AlertTestResult,
    SuppressionPage,
    account_detail,
)
from pillarbox.http.accounts.wire import (
    AddSuppressionsRequest,
    ChangeAlertsRequest,
    LogQuery,
    ResumeRequest,
    SuppressionsQuery,
    read_account_changes,
    read_address,
)
from pillarbox.http.app import App, build_app, entrypoint
from pillarbox.http.messages.replies import Reply, reply, reply_nothing
from pillarbox.http.query import read_query
from pillarbox.http.requests import read_caller
from pillarbox.http.sign_in.wire import read_session
from pillarbox.http.wire import read_body
from pillarbox.wiring import load, services

app = build_app()


@app.get("/v1/account")
def get_account() -> Reply:
    return _reply_account(_account(ACCOUNT_READ))


@app.patch("/v1/account")
def change_account() -> Reply:
    owner, changes = _member(ACCOUNT_WRITE), read_account_changes(app.current_event)
    account_id = owner.account.account_id
    changed = services().accounts.update(account_id, changes, member=owner.actor)
    return _reply_account(changed)


@app.post("/v1/account/resume")
def resume_sending() -> Reply:
    owner = _owner()
    body = read_body(app.current_event, ResumeRequest)
    account_id = owner.account.account_id
    resumed = services().resuming.by_owner(account_id, body.key, body.cause, by=owner.actor)
    return _reply_account(resumed)


@app.get("/v1/account/log")
def read_account_log() -> Reply:
    account_id = _account(ACCOUNT_READ).account_id
    query = read_query(app.current_event, LogQuery)
    tree = services().key_tree(account_id, query.key) if query.key else None
    page = services().accounts.log_page(
        account_id, query.limit, query.cursor, calls=query.part is LogPart.CALLS, by=tree
    )
    return reply(AccountLog.of(page))


@app.get("/v1/account/alerts")
def show_alerts() -> Reply:
    return _reply_alerts(_account(ACCOUNT_WRITE).account_id)


@app.patch("/v1/account/alerts")
def change_alerts() -> Reply:
    owner = _member(ACCOUNT_WRITE)
    changes = read_body(app.current_event, ChangeAlertsRequest).changes
    services().alert_choices.change(owner.account.account_id, changes, by=owner.actor)
    return _reply_alerts(owner.account.account_id)


@app.post("/v1/account/alerts/test")
def test_alerts() -> Reply:
    return reply(AlertTestResult.of(services().alert_choices.test(_owner().account)))


@app.get("/v1/suppressions")
def list_suppressions() -> Reply:
    account_id = _account(SUPPRESSIONS_READ).account_id
    query = read_query(app.current_event, SuppressionsQuery)
    page = services().suppression_list.page(account_id, query.start, query.cursor, query.limit)
    return reply(SuppressionPage.of(page))


@app.post("/v1/suppressions")
def add_suppressions() -> Reply:
    account_id = _account(SUPPRESSIONS_WRITE).account_id
    body = read_body(app.current_event, AddSuppressionsRequest)
    if body.addresses is not None:
        added = services().suppression_list.add_all(account_id, body.addresses)
    else:
        one = services().suppression_list.add(account_id, body.address or "")
        added = SuppressionImport([one], [])
    return reply(AddedSuppressions.of(added), 201)


@app.delete("/v1/suppressions/<address>")
def remove_suppression(address: str) -> Reply:
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
