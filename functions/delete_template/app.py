"""DELETE /v1/templates/{id}: delete a saved template for good (contract 4.10)."""

from uuid import UUID

from pillarbox.domain.accounts.key import TEMPLATES_WRITE
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import Manager, managing
from pillarbox.wiring import load, services

app = build_app()
route = routes(app, services)


@route("DELETE /v1/templates/{id}", managing(TEMPLATES_WRITE))
def delete_template(principal: Manager, template_id: UUID) -> None:
    """Delete a saved template.

    Deletes the template permanently. Emails that were accepted before are still sent.

    Errors: `template_in_use`.
    """
    services().template_library.delete(principal.account.account_id, template_id)


load(lambda it: (it.caller_authentication, it.template_library))
lambda_handler = entrypoint(app)
