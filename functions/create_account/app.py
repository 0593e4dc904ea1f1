"""/v1/sign-up, /v1/operator/sign-ups and POST /v1/operator/accounts: create accounts."""

from urllib.parse import unquote

from pillarbox.domain.accounts.key import ACCOUNTS_WRITE
from pillarbox.domain.sign_in.session import SessionPrincipal
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import USERS, operating, operators
from pillarbox.http.messages.replies import Reply, reply, reply_nothing
from pillarbox.http.operator.creation import CreateAccountRequest
from pillarbox.http.requests import read_caller, read_known, request_origin
from pillarbox.http.sign_in.replies import ChosenAccount, PendingList, SignUpItem
from pillarbox.http.sign_in.sign_up import ApprovalBody, SignUpBody, read_sign_up
from pillarbox.http.sign_in.wire import read_session
from pillarbox.http.wire import read_body
from pillarbox.wiring import load, services

app = build_app()
route = routes(app)


@route("GET /v1/sign-up", USERS, response=SignUpItem)
def get_sign_up() -> Reply:
    """Ask whether you can sign up.

    Says whether the user of the session can create an account, with the proof of work that this
    needs.
    """
    return reply(SignUpItem.of(services().sign_up.offer(_principal())))


@route("POST /v1/sign-up", USERS, body=SignUpBody, response=SignUpItem, status=201)
def sign_up() -> Reply:
    """Create an account.

    Creates an account with the user as its owner, or asks the operator for one. A user can do so
    once. The proof is a challenge of `GET /api/v1/sign-up` with the number whose SHA-256, after the
    salt, is the challenge. It is valid for five minutes and works once.

    Errors: `sign_up_closed`, `rate_limit_exceeded`.
    """
    principal = _principal()
    name, proof = read_sign_up(app.current_event)
    client = request_origin(app.current_event).client(services().is_of_edge)
    offer = services().sign_up.create(principal, name, proof, client)
    return reply(SignUpItem.of(offer), 201)


@route(
    "POST /v1/operator/accounts",
    operating(ACCOUNTS_WRITE),
    body=CreateAccountRequest,
    response=ChosenAccount,
    status=201,
    creates_named=True,
)
def create_operated_account() -> Reply:
    """Create an account.

    Creates an account without senders, keys and members. The name need not be unique.
    """
    request = read_caller(app.current_event)
    services().operator_authentication.manage(request, ACCOUNTS_WRITE)
    body = read_body(app.current_event, CreateAccountRequest)
    accounts = services().accounts
    with services().creations.beside(
        read_known(app.current_event), "account", body.name, lambda: accounts.ids_of(body.name)
    ):
        made = accounts.create(body.name, body.plan, contact=body.contact)
    return reply(ChosenAccount.of(made), 201)


@route("GET /v1/operator/sign-ups", operators(), response=PendingList)
def list_sign_ups() -> Reply:
    """List the users who ask for an account.

    Those that wait for an operator, because `SignUp` is `approved`.
    """
    _operator()
    return reply(PendingList.of(items=services().sign_up_approval.pending()))


@route(
    "POST /v1/operator/sign-ups/{address}",
    operators(),
    body=ApprovalBody,
    response=ChosenAccount,
    status=201,
)
def approve_sign_up(address: str) -> Reply:
    """Create the account that a user asks for.

    The user becomes its owner and gets an email.
    """
    operator, body = _operator(), read_body(app.current_event, ApprovalBody)
    account = services().sign_up_approval.approve(unquote(address), body.plan, by=operator)
    return reply(ChosenAccount.of(account), 201)


@route("DELETE /v1/operator/sign-ups/{address}", operators())
def refuse_sign_up(address: str) -> Reply:
    """Refuse an account to a user.

    The dashboard tells the user. The request can still be approved.
    """
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
