"""The AWS account's pricing plan at SES: the adapter, and the option of `pillarbox deploy`."""

import pytest
import typer

from admin import ses_plan
from admin.aws.ses_plan import SesAccountPlan
from admin.connection import StackConnection
from admin.use_cases.ses_plans import SesPlan
from local.ses.account import StoredAccount
from local.ses.store import MailStore
from pillarbox.application.operator.checks import Verdict
from pillarbox.domain.errors import ServiceError
from tests.integration.admin.aws_stubs import Stubs

PLAIN = StackConnection(stack_name="pillarbox", json=False)


def stubbed(stubs: Stubs) -> SesAccountPlan:
    plans = SesAccountPlan()
    plans.__dict__["_ses"] = stubs.client("sesv2")
    return plans


def test_the_plan_is_changed_by_its_name_in_capitals(stubs: Stubs) -> None:
    stubs.answer("sesv2", "put_account_pricing_attributes", {}, {"Plan": "NONE"})
    stubbed(stubs).change(SesPlan.NONE)
    stubs.refuse("sesv2", "put_account_pricing_attributes", "ConflictException")
    with pytest.raises(ServiceError, match="ConflictException"):
        stubbed(stubs).change(SesPlan.PRO)


def test_without_the_right_to_see_it_the_deployment_goes_on(stubs: Stubs) -> None:
    stubs.refuse("sesv2", "get_account", "AccessDeniedException")
    (finding,) = ses_plan.check(stubbed(stubs))
    assert (finding.verdict, "ses:GetAccount" in finding.remedy) == (Verdict.WARN, True)


@pytest.fixture
def account(ses: tuple[str, MailStore], monkeypatch: pytest.MonkeyPatch) -> StoredAccount:
    """The account of the stand-in for SES, which has the plan of a new account."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", ses[0])
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    return ses[1].account


def test_the_plan_is_changed_after_a_question_only(
    account: StoredAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def no(question: str, **_: object) -> bool:
        asked.append(question)
        return False

    monkeypatch.setattr(typer, "confirm", no)
    with pytest.raises(typer.Abort):
        ses_plan.change(PLAIN, SesAccountPlan(), SesPlan.PRO, "eu-west-1", yes=False)
    assert account.plan == "ESSENTIALS"
    for part in ("from essentials (0.16", "to pro (105 dollars a month and 0.22", "eu-west-1"):
        assert part in asked[0]


def test_a_change_that_waits_is_not_asked_for_again(
    stubs: Stubs, capsys: pytest.CaptureFixture[str]
) -> None:
    waiting = {"PricingAttributes": {"CurrentPlan": "PRO", "NextPlan": "NONE"}}
    stubs.answer("sesv2", "get_account", waiting, {})
    ses_plan.change(PLAIN, stubbed(stubs), SesPlan.NONE, "eu-west-1", yes=False)
    assert capsys.readouterr().err == "The SES plan is none next month.\n"
