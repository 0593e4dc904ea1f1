"""Emulated AWS for the tests of received mail, with an account that receives."""

from dataclasses import replace

import pytest

from pillarbox.application.receiving_ports import ReceivingDomain
from pillarbox.wiring import services
from tests.aws import Aws, aws, running_aws
from tests.fakes.builders import ACCOUNT, account
from tests.integration.replies.mail import DOMAIN, SENT

__all__ = ["aws", "running_aws"]


@pytest.fixture(autouse=True)
def _receiving(aws: Aws) -> None:  # noqa: ARG001  a fixture
    """Add an account that receives, and an email of it."""
    it = services()
    it.account_store.add(replace(account(), reply_domain=DOMAIN))
    it.receiving_domains.put(ReceivingDomain(DOMAIN, ACCOUNT, frozenset({"support"})))
    it.message_store.commit(SENT)
