"""/v1/operator/…: what operators of the service see and change."""

from pillarbox.application.operator import checks
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.key import ACCOUNTS_READ, ACCOUNTS_WRITE
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import operating, operators
from pillarbox.http.messages.replies import Reply, reply
from pillarbox.http.operator.replies import (
    AccountPage,
    CheckList,
    MovedLetters,
    OperatedAccount,
    QueueList,
    RatesResult,
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
route = routes(app)


@route(
    "GET /v1/operator/accounts", operating(ACCOUNTS_READ), query=AccountsQuery, response=AccountPage
)
def list_accounts() -> Reply:
    """List accounts.

    All accounts of the service, sorted by id, or those whose name contains the text of `search` or
    whose id begins with it. A page of a search may have fewer accounts than `limit`, or none, while
    `nextCursor` is not null: a page reads 2,000 accounts at most.
    """
    _operator_of(ACCOUNTS_READ)
    query = read_query(app.current_event, AccountsQuery)
    page = services().account_list.page(query.search, query.cursor, query.limit)
    return reply(AccountPage.of(page))


@route("GET /v1/operator/accounts/{account_id}", operating(ACCOUNTS_READ), response=OperatedAccount)
def get_operated_account(account_id: str) -> Reply:
    """Get an account.

    An account with its plan, its limits and its log.
    """
    _operator_of(ACCOUNTS_READ)
    return _reply_account(services().accounts.get(account_id))


@route(
    "PATCH /v1/operator/accounts/{account_id}",
    operating(ACCOUNTS_WRITE),
    body=OperateAccountRequest,
    response=OperatedAccount,
)
def change_operated_account(account_id: str) -> Reply:
    """Change an account's plan, limits or isolation.

    The change counts from the account's next request on, and that of plan or limits is written to
    its log. API keys keep their permissions. Another isolation takes some calls of SES: repeat the
    request if the service is busy.
    """
    operator = _operator_of(ACCOUNTS_WRITE)
    body = read_body(app.current_event, OperateAccountRequest)
    changed = services().accounts.update(account_id, body.changes, by=operator)
    if body.isolation is not None:
        changed = services().account_isolation.change(account_id, body.isolation)
    return _reply_account(changed)


@route(
    "POST /v1/operator/accounts/{account_id}/suspension",
    operating(ACCOUNTS_WRITE),
    body=SuspendRequest,
    response=OperatedAccount,
)
def suspend_account(account_id: str) -> Reply:
    """Suspend an account.

    Every request of the account's keys and members is refused from now on. Emails that were
    accepted before are still delivered.
    """
    operator, body = _operator_of(ACCOUNTS_WRITE), read_body(app.current_event, SuspendRequest)
    return _reply_account(services().accounts.suspend(account_id, body.reason, by=operator))


@route(
    "DELETE /v1/operator/accounts/{account_id}/suspension",
    operating(ACCOUNTS_WRITE),
    response=OperatedAccount,
)
def resume_account(account_id: str) -> Reply:
    """Resume an account.

    Ends a suspension. API keys work again, except revoked ones.
    """
    operator = _operator_of(ACCOUNTS_WRITE)
    return _reply_account(services().accounts.resume(account_id, by=operator))


@route("GET /v1/operator/rates", operators(), query=RatesQuery, response=RatesResult)
def get_rates() -> Reply:
    """Get the rates of all accounts.

    What the accounts sent in the last days, and those with the most emails, bounces or complaints.
    Each account takes about six reads of the statistics.
    """
    _operator()
    query, rates = read_query(app.current_event, RatesQuery), services().account_rates
    now = rates.clock()
    since = query.since(now)
    return reply(rates_result(rates.counts(since, now), query.by, since, now))


@route("GET /v1/operator/queues", operators(), response=QueueList)
def list_queues() -> Reply:
    """List the queues.

    The messages in each queue and its dead letters, how long the oldest one has waited, and which
    dead letters operators moved back.
    """
    _operator()
    queues = services().queue_operations
    return reply(queue_list(queues.status(), queues.oldest_message_ages(), queues.redrives()))


@route(
    "POST /v1/operator/queues/{queue}/redrive",
    operators(),
    body=RedriveRequest,
    response=MovedLetters,
)
def redrive_queue(queue: str) -> Reply:
    """Move dead letters back.

    Moves dead letters into their queue. Fix the cause of the failures first. This is safe at any
    time: finished emails are not sent again, and processed events change nothing.
    """
    operator, body = _operator(), read_body(app.current_event, RedriveRequest)
    moved = services().queue_operations.redrive(queue, body.limit, by=operator)
    return reply(MovedLetters.of(queue=queue, moved=moved))


@route("GET /v1/operator/checks", operators(), response=CheckList)
def run_checks() -> Reply:
    """Check the service.

    Whether SES lets the service send and reports its events, whether messages failed or wait too
    long, and whether one account can use up SES's quota. `pillarbox doctor` checks more.
    """
    _operator()
    return reply(CheckList.of(items=checks.run_checks(services().service_checks.runs())))


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
