"""Links in emails lead to the address that a deployment stored; before that, nothing is lost."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from pillarbox import wiring
from pillarbox.adapters.dynamodb import keys
from pillarbox.consumer import InvocationFailed
from pillarbox.domain.errors import ServiceError
from pillarbox.wiring import services
from tests.contract.bodies import TO, otp
from tests.contract.client import Api
from tests.contract.service import APP_URL, SENDER, Service
from tests.contract.sign_in import Browser, add_user
from tests.contract.sign_up import sign_up, user_without_account
from tests.contract.test_preview_keys import get_key, last_mail
from tests.contract.test_sign_up import new_address


def forget_address() -> None:
    services().table.delete(keys.service_address())
    services().service_address._read_at = None


@pytest.fixture
def before_the_deployment_ends(service: Service) -> Iterator[Service]:
    """The table has no address, and this process has read none."""
    service.deliver()  # what other tests have sent
    forget_address()
    yield service
    services().service_address.store(APP_URL)


def test_a_code_waits_for_the_address(
    before_the_deployment_ends: Service, caplog: pytest.LogCaptureFixture
) -> None:
    """The invocation fails, the log has the remedy, and Lambda's second try sends the code."""
    service, address = before_the_deployment_ends, new_address()
    add_user(address)
    Browser().request_code(address)
    (event,) = service.code_events
    with pytest.raises(InvocationFailed):
        service.mail_code(event)
    assert "Run `pillarbox deploy`" in vars(caplog.records[-1])["remedy"]
    services().service_address.store(APP_URL)
    assert service.mail_codes() == [{"code_accepted": 1}]
    assert f"{APP_URL}/app/sign-in#" in last_mail(service, address)


def test_an_invitation_that_cannot_be_sent_adds_no_member(
    before_the_deployment_ends: Service,
) -> None:
    """The response is 503, and the same request succeeds after the deployment."""
    service = before_the_deployment_ends
    api = Api(session=service.session(service.account()))
    body = {"email": new_address(), "role": "viewer"}
    refused = api.raw("POST", "/members", body)
    assert (refused.status, refused.code) == (503, "service_unavailable")
    assert len(api.raw("GET", "/members").json["items"]) == 1
    services().service_address.store(APP_URL)
    assert api.raw("POST", "/members", body).status == 201


def test_an_approval_that_cannot_be_sent_creates_no_account(
    before_the_deployment_ends: Service,
) -> None:
    service, address = before_the_deployment_ends, new_address()
    with service.signing_up("approved"):
        sign_up(user_without_account(service, address), "Acme")
        approval = services().sign_up_approval
        with pytest.raises(ServiceError):
            approval.approve(address)
        services().service_address.store(APP_URL)
        assert approval.approve(address).name == "Acme"


def test_only_mail_with_a_link_waits_for_the_address(before_the_deployment_ends: Service) -> None:
    """Ordinary mail is delivered; test mail stays in the queue until the address is there."""
    service = before_the_deployment_ends
    services().service_address.store(APP_URL)
    visitor = Api(get_key(service, "visitor@example.org").json["key"])
    service.deliver()
    forget_address()
    live = Api(service.key(service.account(senders={SENDER: True}, default=SENDER)))
    live.send(otp(to=TO))
    assert len(service.mailed()) == 1
    visitor.send(otp(to="visitor@example.org"))
    (job,) = service.jobs()
    assert service._consume("deliver_message", [job]) == [job["messageId"]]
    services().service_address.store(APP_URL)
    assert service._consume("deliver_message", [job]) == []
    raw: bytes = service.ses.mails[-1]["raw"]
    assert f"{APP_URL}/widget/report#".encode() in raw.replace(b"=\r\n", b"")


def test_a_process_follows_a_changed_address(service: Service) -> None:
    """A process that runs on reads a new address within five minutes, and not for each link."""
    now, reads = wiring.utc_now(), services().service_address
    with service.at(now):
        reads._read_at = None
        assert reads.read() == APP_URL
    reads.store("https://new.example")
    with service.at(now + timedelta(minutes=4, seconds=59)):
        assert reads.read() == APP_URL
    with service.at(now + timedelta(minutes=5)):
        assert reads.read() == "https://new.example"
    reads.store(APP_URL)
    reads._read_at = None
