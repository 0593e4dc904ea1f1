"""GET and POST /v1/sign-up: create an account for the user of a session."""

from pillarbox.domain.session import SessionPrincipal
from pillarbox.http.app import build_app, entrypoint
from pillarbox.http.replies import Reply, reply
from pillarbox.http.sessions import client_address, read_session
from pillarbox.http.sign_up import read_sign_up
from pillarbox.http.sign_up_replies import sign_up_item
from pillarbox.wiring import services

app = build_app()


@app.get("/v1/sign-up")
def get_sign_up() -> Reply:
    return reply(sign_up_item(services().sign_up.offer(_principal())))


@app.post("/v1/sign-up")
def sign_up() -> Reply:
    principal = _principal()
    name, proof = read_sign_up(app.current_event)
    client = client_address(app.current_event)
    offer = services().sign_up.create(principal, name, proof, client)
    return reply(sign_up_item(offer), 201)


def _principal() -> SessionPrincipal:
    return services().session_authentication.authenticate(read_session(app.current_event))


lambda_handler = entrypoint(app)
