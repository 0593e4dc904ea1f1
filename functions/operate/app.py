"""/v1/operator/…: what operators of the service see and change."""

from typing import Any

from pillarbox.application.operator import checks
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.key import ACCOUNTS_READ, ACCOUNTS_WRITE
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import operating, operators
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
from pillarbox.wiring import load, services

app = build_app()
route = routes(app, services)


@route(
    "GET /v1/operator/accounts", operating(ACCOUNTS_READ), query=AccountsQuery, response=AccountPage
)
def list_accounts(_: str, query: AccountsQuery) -> dict[str, Any]:
    """List accounts.

    All accounts of the service, sorted by id, or those whose name contains the text of `search` or
    whose id begins with it. A page of a search may have fewer accounts than `limit`, or none, while
    `nextCursor` is not null: a page reads 2,000 accounts at most.
    """
    page = services().account_list.page(query.search, query.cursor, query.limit)
    return AccountPage.of(page)


@route("GET /v1/operator/accounts/{account_id}", operating(ACCOUNTS_READ), response=OperatedAccount)
def get_operated_account(_: str, account_id: str) -> dict[str, Any]:
    """Get an account.

    An account with its plan, its limits and its log.
    """
    return _detail(services().accounts.get(account_id))


@route(
    "PATCH /v1/operator/accounts/{account_id}",
    operating(ACCOUNTS_WRITE),
    body=OperateAccountRequest,
    response=OperatedAccount,
)
def change_operated_account(
    operator: str, account_id: str, body: OperateAccountRequest
) -> dict[str, Any]:
    """Change an account's plan, limits or isolation.

    The change counts from the account's next request on, and that of plan or limits is written to
    its log. API keys keep their permissions. Another isolation takes some calls of SES: repeat the
    request if the service is busy.
    """
    changed = services().accounts.update(account_id, body.changes, by=operator)
    if body.isolation is not None:
        changed = services().account_isolation.change(account_id, body.isolation)
    return _detail(changed)


@route(
    "POST /v1/operator/accounts/{account_id}/suspension",
    operating(ACCOUNTS_WRITE),
    body=SuspendRequest,
    response=OperatedAccount,
)
def suspend_account(operator: str, account_id: str, body: SuspendRequest) -> dict[str, Any]:
    """Suspend an account.

    Every request of the account's keys and members is refused from now on. Emails that were
    accepted before are still delivered.
    """
    return _detail(services().accounts.suspend(account_id, body.reason, by=operator))


@route(
    "DELETE /v1/operator/accounts/{account_id}/suspension",
    operating(ACCOUNTS_WRITE),
    response=OperatedAccount,
)
def resume_account(operator: str, account_id: str) -> dict[str, Any]:
    """Resume an account.

    Ends a suspension. API keys work again, except revoked ones.
    """
    return _detail(services().accounts.resume(account_id, by=operator))


@route("GET /v1/operator/rates", operators(), query=RatesQuery, response=RatesResult)
def get_rates(_: str, query: RatesQuery) -> dict[str, Any]:
    """Get the rates of all accounts.

    What the accounts sent in the last days, and those with the most emails, bounces or complaints.
    Each account takes about six reads of the statistics.
    """
    rates = services().account_rates
    now = rates.clock()
    since = query.since(now)
    return rates_result(rates.counts(since, now), query.by, since, now)


@route("GET /v1/operator/queues", operators(), response=QueueList)
def list_queues(_: str) -> dict[str, Any]:
    """List the queues.

    The messages in each queue and its dead letters, how long the oldest one has waited, and which
    dead letters operators moved back.
    """
    queues = services().queue_operations
    return queue_list(queues.status(), queues.oldest_message_ages(), queues.redrives())


@route(
    "POST /v1/operator/queues/{queue}/redrive",
    operators(),
    body=RedriveRequest,
    response=MovedLetters,
)
def redrive_queue(operator: str, queue: str, body: RedriveRequest) -> dict[str, Any]:
    """Move dead letters back.

    Moves dead letters into their queue. Fix the cause of the failures first. This is safe at any
    time: finished emails are not sent again, and processed events change nothing.
    """
    moved = services().queue_operations.redrive(queue, body.limit, by=operator)
    return MovedLetters.of(queue=queue, moved=moved)


@route("GET /v1/operator/checks", operators(), response=CheckList)
def run_checks(_: str) -> dict[str, Any]:
    """Check the service.

    Whether SES lets the service send and reports its events, whether messages failed or wait too
    long, and whether one account can use up SES's quota. `pillarbox doctor` checks more.
    """
    return CheckList.of(items=checks.run_checks(services().service_checks.runs()))


def _detail(account: Account) -> dict[str, Any]:
    log = services().accounts.log(account.account_id)
    return operated_account(account, services().account_usage.of(account), log)


load(lambda it: (it.operator_authentication, it.account_list), connections=3)
lambda_handler = entrypoint(app)
