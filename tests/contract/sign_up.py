"""A browser that signs up: it asks for a challenge, solves it and names an account."""

from typing import Any, Final

from altcha.v1 import solve_challenge

from tests.contract.client import Api, ApiResponse
from tests.contract.service import Service
from tests.contract.sign_in import Browser

#: A proof of the right form that solves nothing.
WRONG_PROOF: Final = {
    "algorithm": "SHA-256",
    "challenge": "0" * 64,
    "number": 1,
    "salt": "x",
    "signature": "0" * 64,
}


def user_without_account(service: Service, address: str) -> Api:
    """Sign in with a code, for which sign-up must be open if the address is new."""
    browser = Browser()
    flow = browser.request_code(address).json["flow"]
    (queued,) = service.codes()
    response = browser.sign_in(flow, queued.code)
    assert response.status == 200
    return Api(session=response.json["token"])


def proof_for(api: Api) -> dict[str, Any]:
    """Get a challenge and solve it."""
    return solved(api.raw("GET", "/sign-up").json["challenge"])


def solved(item: dict[str, Any]) -> dict[str, Any]:
    """Return the proof for a challenge."""
    solution: Any = solve_challenge(
        challenge=item["challenge"],
        salt=item["salt"],
        algorithm=item["algorithm"],
        max_number=item.pop("maxnumber"),
    )
    return {**item, "number": solution.number}


def post(api: Api, name: object, proof: object, client: str = "127.0.0.1") -> ApiResponse:
    body = {"name": name, "proof": proof}
    return api.raw("POST", "/sign-up", body, client=client)


def sign_up(api: Api, name: str = "Acme") -> ApiResponse:
    """Solve a challenge and ask for an account."""
    return post(api, name, proof_for(api))
