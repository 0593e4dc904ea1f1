"""DELETE /v1/templates/{id}: delete a saved template for good (contract 4.10)."""

from pillarbox.domain.accounts.key import TEMPLATES_WRITE
from pillarbox.http.app import build_app, entrypoint
from pillarbox.http.messages.replies import Reply, reply_nothing
from pillarbox.http.requests import read_caller, read_uuid
from pillarbox.wiring import load, services

app = build_app()


@app.delete("/v1/templates/<template_id>")
def delete_template(template_id: str) -> Reply:
    principal = services().caller_authentication.manage(
        read_caller(app.current_event), TEMPLATES_WRITE
    )
    services().template_library.delete(principal.account.account_id, read_uuid(template_id, "id"))
    return reply_nothing()


load(lambda it: (it.caller_authentication, it.template_library))
lambda_handler = entrypoint(app)
