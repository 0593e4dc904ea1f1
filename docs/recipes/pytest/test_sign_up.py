"""Signs up for an account with the code that arrives by email."""

import json
from urllib.request import Request, urlopen

from pillarbox_testing import Pillarbox


def sign_up(pillarbox: Pillarbox, address: str) -> None:
    """Stand in for your application, which sends a code to a new user."""
    body = {"to": address, "starterTemplate": "otp", "variables": {"otp_code": "AB12-CD34"}}
    request = Request(  # noqa: S310  the URL of the stack
        f"{pillarbox.url}/api/v1/emails",
        json.dumps(body).encode(),
        {
            "X-API-Key": pillarbox.key,
            "Content-Type": "application/json",
            "User-Agent": "shop/1.0",
        },
    )
    with urlopen(request):  # noqa: S310
        pass


def test_a_new_user_gets_a_code(pillarbox: Pillarbox) -> None:
    """The code goes to the new user, and to no one else."""
    address = pillarbox.address("ada")
    sign_up(pillarbox, address)
    email = pillarbox.inbox.wait_for(to=address, subject="code")
    assert email.codes == ("AB12-CD34",)
    assert email.recipients == (address,)
