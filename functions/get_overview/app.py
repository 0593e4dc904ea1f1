"""GET /v1/overview: what the dashboard's first page shows of an account."""

from typing import Any

from pillarbox.application.history.pagination import PageRequest
from pillarbox.application.templates.starters import list_starters
from pillarbox.domain.accounts.key import ACCOUNT_READ, KEYS_READ
from pillarbox.http.accounts.overview import Overview
from pillarbox.http.accounts.replies import account_detail
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import MemberCaller, members
from pillarbox.wiring import load, services

app = build_app()
route = routes(app, services)


@route("GET /v1/overview", members(ACCOUNT_READ), response=Overview)
def get_overview(member: MemberCaller) -> dict[str, Any]:
    """Get the overview.

    What the first page of the dashboard shows beside figures and domains: the account, how many
    emails it has, its webhook endpoints, and the names of its templates and API keys. It is one
    response, because each function that a page asks may have to start first.
    """
    account, account_id = member.account, member.account.account_id
    emails = services().history_queries.page(account_id, PageRequest(limit=0), account.shards)
    keys = services().api_key_store.of_account(account_id) if member.may(KEYS_READ) else ()
    return Overview.of(
        account=account_detail(account, services().account_usage.of(account)),
        emails=emails.total,
        keys=sorted(keys, key=lambda key: key.created_at),
        starter_templates=list_starters(),
        templates=services().template_library.each(account_id),
        webhooks=services().webhook_queries.of_account(account_id),
    )


load(
    lambda it: (
        *(it.session_authentication, it.account_usage, it.api_key_store, it.history_queries),
        *(it.template_library, it.webhook_queries),
    )
)
lambda_handler = entrypoint(app)
