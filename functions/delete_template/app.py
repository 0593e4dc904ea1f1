"""DELETE /v1/templates/{id}: delete a saved template for good (contract 4.10)."""

from pillarbox.domain.accounts.key import TEMPLATES_WRITE
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import managing
from pillarbox.http.messages.replies import Reply, reply_nothing
from pillarbox.http.requests import read_caller, read_uuid
from pillarbox.wiring import load, services

app = build_app()
route = routes(app)


@route("DELETE /v1/templates/{id}", managing(TEMPLATES_WRITE))
def delete_template(template_id: str) -> Reply:
    """Delete a saved template.

    Deletes the template permanently. Emails that were accepted before are still sent.

    Errors: `template_in_use`.
    """
    principal = services().caller_authentication.manage(
        read_caller(app.current_event), TEMPLATES_WRITE
    )
    services().template_library.delete(principal.account.account_id, read_uuid(template_id, "id"))
    return reply_nothing()


load(lambda it: (it.caller_authentication, it.template_library))
lambda_handler = entrypoint(app)
