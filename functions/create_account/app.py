"""/v1/sign-up, /v1/operator/sign-ups and POST /v1/operator/accounts: create accounts."""

from typing import Any
from urllib.parse import unquote

from pillarbox.domain.accounts.key import ACCOUNTS_READ, ACCOUNTS_WRITE
from pillarbox.http.app import build_app, entrypoint, routes
from pillarbox.http.callers import UserCaller, operating, users
from pillarbox.http.operator.creation import CreateAccountRequest
from pillarbox.http.requests import read_known, request_origin
from pillarbox.http.sign_in.replies import ChosenAccount, PendingList, SignUpItem
from pillarbox.http.sign_in.sign_up import ApprovalBody, SignUpBody, proof_of
from pillarbox.wiring import load, services

app = build_app()
route = routes(app, services)


@route("GET /v1/sign-up", users(), response=SignUpItem)
def get_sign_up(principal: UserCaller) -> dict[str, Any]:
    """Ask whether you can sign up.

    Says whether the user of the session can create an account, with the proof of work that this
    needs.
    """
    return SignUpItem.of(services().sign_up.offer(principal))


@route("POST /v1/sign-up", users(), body=SignUpBody, response=SignUpItem, status=201)
def sign_up(principal: UserCaller, body: SignUpBody) -> dict[str, Any]:
    """Create an account.

    Creates an account with the user as its owner, or asks the operator for one. A user can do so
    once. The proof is a challenge of `GET /api/v1/sign-up` with the number whose SHA-256, after the
    salt, is the challenge. It is valid for five minutes and works once.

    Errors: `sign_up_closed`, `rate_limit_exceeded`.
    """
    client = request_origin(app.current_event).client(services().is_of_edge)
    offer = services().sign_up.create(principal, body.name, proof_of(body.proof), client)
    return SignUpItem.of(offer)


@route(
    "POST /v1/operator/accounts",
    operating(ACCOUNTS_WRITE),
    body=CreateAccountRequest,
    response=ChosenAccount,
    status=201,
    creates_named=True,
)
def create_operated_account(_: str, body: CreateAccountRequest) -> dict[str, Any]:
    """Create an account.

    Creates an account without senders, keys and members. The name need not be unique.
    """
    accounts = services().accounts
    with services().creations.beside(
        read_known(app.current_event), "account", body.name, lambda: accounts.ids_of(body.name)
    ):
        made = accounts.create(body.name, body.plan, contact=body.contact)
    return ChosenAccount.of(made)


@route("GET /v1/operator/sign-ups", operating(ACCOUNTS_READ), response=PendingList)
def list_sign_ups(_: str) -> dict[str, Any]:
    """List the users who ask for an account.

    Those that wait for an operator, because `SignUp` is `approved`.
    """
    return PendingList.of(items=services().sign_up_approval.pending())


@route(
    "POST /v1/operator/sign-ups/{address}",
    operating(ACCOUNTS_WRITE),
    body=ApprovalBody,
    response=ChosenAccount,
    status=201,
)
def approve_sign_up(operator: str, address: str, body: ApprovalBody) -> dict[str, Any]:
    """Create the account that a user asks for.

    The user becomes its owner and gets an email.
    """
    account = services().sign_up_approval.approve(unquote(address), body.plan, by=operator)
    return ChosenAccount.of(account)


@route("DELETE /v1/operator/sign-ups/{address}", operating(ACCOUNTS_WRITE))
def refuse_sign_up(_: str, address: str) -> None:
    """Refuse an account to a user.

    The dashboard tells the user. The request can still be approved.
    """
    services().sign_up_approval.refuse(unquote(address))


load(lambda it: (it.session_authentication, it.sign_up))
lambda_handler = entrypoint(app)
