"""GET /v1/starter-templates: list the built-in templates (contract 4.6)."""

from typing import Any

from pillarbox.application.templates.starters import list_starters
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import KnownCaller, known
from pillarbox.http.messages.views import StarterItem
from pillarbox.wiring import load, services

app = build_app()
route = routes(app, services)


@route("GET /v1/starter-templates", known(), response=list[StarterItem])
def list_starter_templates(_: KnownCaller) -> list[dict[str, Any]]:
    """List starter templates.

    The ten built-in templates. Both types of keys may list them. `variables` of a send:

    `lines` has up to 100 entries: texts, or objects with `description` and perhaps `amount`. What
    is left out comes from the brand of the account (`PATCH /api/v1/account`): `company_address`,
    `support_email` (without one, the `replyTo` or the sender), and `action_url` of `welcome`.
    """
    return [StarterItem.of(starter) for starter in list_starters()]


load(lambda it: it.caller_authentication)
lambda_handler = entrypoint(app)
