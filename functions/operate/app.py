"""/v1/operator/…: what operators of the service see and change."""

from pillarbox.application.operator.checks import run_checks
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.key import ACCOUNTS_READ, ACCOUNTS_WRITE
from pillarbox.http.app import build_app, entrypoint
from pillarbox.http.messages.replies import Reply, reply
from pillarbox.http.operator.replies import (
    AccountPage,
    CheckList,
    MovedLetters,
    operated_account,
    queue_list,
    rates_result,
)
from pillarbox.http.operator.wire import (
    AccountsQuery,
    OperateAccountRequest,
    RatesQuery,
    RedriveRequest,
    SuspendRequest,
)
from pillarbox.http.query import read_query
from pillarbox.http.requests import read_caller
from pillarbox.http.sign_in.wire import read_session
from pillarbox.http.wire import read_body
from pillarbox.wiring import load, services

app = build_app()


@app.get("/v1/operator/accounts")
def list_accounts() -> Reply:
    _operator_of(ACCOUNTS_READ)
    query = read_query(app.current_event, AccountsQuery)
    page = services().account_list.page(query.search, query.cursor, query.limit)
    return reply(AccountPage.of(page))


@app.get("/v1/operator/accounts/<account_id>")
def get_account(account_id: str) -> Reply:
    _operator_of(ACCOUNTS_READ)
    return _reply_account(services().accounts.get(account_id))


@app.patch("/v1/operator/accounts/<account_id>")
def change_account(account_id: str) -> Reply:
    operator = _operator_of(ACCOUNTS_WRITE)
    body = read_body(app.current_event, OperateAccountRequest)
    changed = services().accounts.update(account_id, body.changes, by=operator)
    if body.isolation is not None:
        changed = services().account_isolation.change(account_id, body.isolation)
    return _reply_account(changed)


@app.post("/v1/operator/accounts/<account_id>/suspension")
def suspend_account(account_id: str) -> Reply:
    operator, body = _operator_of(ACCOUNTS_WRITE), read_body(app.current_event, SuspendRequest)
    return _reply_account(services().accounts.suspend(account_id, body.reason, by=operator))


@app.delete("/v1/operator/accounts/<account_id>/suspension")
def resume_account(account_id: str) -> Reply:
    operator = _operator_of(ACCOUNTS_WRITE)
    return _reply_account(services().accounts.resume(account_id, by=operator))


@app.get("/v1/operator/rates")
def get_rates() -> Reply:
    _operator()
    query, rates = read_query(app.current_event, RatesQuery), services().account_rates
    now = rates.clock()
    since = query.since(now)
    return reply(rates_result(rates.counts(since, now), query.by, since, now))


@app.get("/v1/operator/queues")
def list_queues() -> Reply:
    _operator()
    queues = services().queue_operations
    return reply(queue_list(queues.status(), queues.oldest_message_ages(), queues.redrives()))


@app.post("/v1/operator/queues/<queue>/redrive")
def redrive_queue(queue: str) -> Reply:
    operator, body = _operator(), read_body(app.current_event, RedriveRequest)
    moved = services().queue_operations.redrive(queue, body.limit, by=operator)
    return reply(MovedLetters.of(queue=queue, moved=moved))


@app.get("/v1/operator/checks")
def run_service_checks() -> Reply:
    _operator()
    return reply(CheckList.of(items=run_checks(services().service_checks.runs())))


def _reply_account(account: Account) -> Reply:
    log = services().accounts.log(account.account_id)
    return reply(operated_account(account, services().account_usage.of(account), log))


def _operator_of(scope: str) -> str:
    """Return the operator who calls, or whose key does: the address, or the key's id."""
    return services().operator_authentication.manage(read_caller(app.current_event), scope)


def _operator() -> str:
    """Return the address of the operator who calls."""
    token = read_session(app.current_event)
    return services().operator_authentication.authenticate(token).session.address


load(lambda it: (it.operator_authentication, it.account_list))
lambda_handler = entrypoint(app)
