"""DELETE /v1/operator/accounts/{account_id}: delete an account with everything that it has."""

from datetime import timedelta
from typing import Any, Final

from pillarbox.domain.accounts.key import ACCOUNTS_WRITE
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import operating
from pillarbox.http.operator.replies import DeletionState
from pillarbox.http.operator.wire import DeletionQuery
from pillarbox.wiring import load, services, utc_now

#: How long one request deletes: well within the gateway's 29 seconds.
_TIME: Final = timedelta(seconds=20)

app = build_app()
route = routes(app, services)


@route(
    "DELETE /v1/operator/accounts/{account_id}",
    operating(ACCOUNTS_WRITE),
    query=DeletionQuery,
    response=DeletionState,
)
def delete_operated_account(_: str, account_id: str, query: DeletionQuery) -> dict[str, Any]:
    """Delete an account.

    Deletes an account and all its messages, statistics, templates, suppressions and keys. Nothing
    of it can be restored, except from a backup of the tables. The account must be suspended for two
    minutes, and no email of it may wait. A request deletes for 20 seconds: repeat it until `done`
    is true. After that the account is not found.
    """
    until = utc_now() + _TIME
    deleted = services().account_deletion.delete(
        account_id, drop_pending=query.drop_pending, until=until
    )
    return DeletionState.of(deleted, id=account_id)


load(lambda it: (it.operator_authentication, it.account_deletion))
lambda_handler = entrypoint(app)
