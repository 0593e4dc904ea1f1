"""GET /v1/emails/analytics: count an account's messages (contract 4.5)."""

from typing import Any

from pillarbox.domain.accounts.key import EMAILS_READ
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import KnownCaller, known
from pillarbox.http.messages.history_query import AnalyticsQuery
from pillarbox.http.messages.views import AnalyticsResult, analytics_result
from pillarbox.wiring import load, services

app = build_app()
route = routes(app, services)


@route(
    "GET /v1/emails/analytics", known(EMAILS_READ), query=AnalyticsQuery, response=AnalyticsResult
)
def get_analytics(caller: KnownCaller, query: AnalyticsQuery) -> dict[str, Any]:
    """Get analytics.

    Figures of the messages that were created within a time range: at most 31 days by the hour, or
    400 days by the day. With `keyId` or `template` they are those of the messages that one API key
    sent or one template made. Rates are over what was handed to Amazon SES: the messages that
    reached `sent`. What was called off before (`canceled`, `not_released`, `key_revoked`) is no
    error.
    """
    account = caller.account
    analytics = services().history_queries.analytics(
        account.account_id, *query.window, query.bucket, account.shards, subset=query.subset
    )
    return analytics_result(analytics, query.since, query.until, query.bucket)


load(lambda it: (it.caller_authentication, it.history_queries))
lambda_handler = entrypoint(app)
