"""/v1/sign-up, /v1/operator/sign-ups and POST /v1/operator/accounts: create accounts."""

from urllib.parse import unquote

from pillarbox.domain.accounts.key import ACCOUNTS_WRITE
from pillarbox.domain.sign_in.session import SessionPrincipal
from pillarbox.http.app import build_app, entrypoint
from pillarbox.http.messages.replies import Reply, reply, reply_nothing
from pillarbox.http.operator.creation import CreateAccountRequest
from pillarbox.http.requests import read_caller, read_known, request_origin
from pillarbox.http.sign_in.replies import ChosenAccount, PendingList, SignUpItem
from pillarbox.http.sign_in.sign_up import ApprovalBody, read_sign_up
from pillarbox.http.sign_in.wire import read_session
from pillarbox.http.wire import read_body
from pillarbox.wiring import load, services

app = build_app()


@app.get("/v1/sign-up")
def get_sign_up() -> Reply:
    return reply(SignUpItem.of(services().sign_up.offer(_principal())))


@app.post("/v1/sign-up")
def sign_up() -> Reply:
    principal = _principal()
    name, proof = read_sign_up(app.current_event)
    client = request_origin(app.current_event).client(services().is_of_edge)
    offer = services().sign_up.create(principal, name, proof, client)
    return reply(SignUpItem.of(offer), 201)


@app.post("/v1/operator/accounts")
def create_account() -> Reply:
    request = read_caller(app.current_event)
    services().operator_authentication.manage(request, ACCOUNTS_WRITE)
    body = read_body(app.current_event, CreateAccountRequest)
    accounts = services().accounts
    with services().creations.beside(
        read_known(app.current_event), "account", body.name, lambda: accounts.ids_of(body.name)
    ):
        made = accounts.create(body.name, body.plan, contact=body.contact)
    return reply(ChosenAccount.of(made), 201)


@app.get("/v1/operator/sign-ups")
def list_pending() -> Reply:
    _operator()
    return reply(PendingList.of(items=services().sign_up_approval.pending()))


@app.post("/v1/operator/sign-ups/<address>")
def approve(address: str) -> Reply:
    operator, body = _operator(), read_body(app.current_event, ApprovalBody)
    account = services().sign_up_approval.approve(unquote(address), body.plan, by=operator)
    return reply(ChosenAccount.of(account), 201)


@app.delete("/v1/operator/sign-ups/<address>")
def refuse(address: str) -> Reply:
    _operator()
    services().sign_up_approval.refuse(unquote(address))
    return reply_nothing()


def _operator() -> str:
    """Return the address of the operator who calls."""
    token = read_session(app.current_event)
    return services().operator_authentication.authenticate(token).session.address


def _principal() -> SessionPrincipal:
    return services().session_authentication.authenticate(read_session(app.current_event))


load(lambda it: (it.session_authentication, it.sign_up))
lambda_handler = entrypoint(app)
