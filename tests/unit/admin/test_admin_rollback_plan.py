"""Which versions `pillarbox rollback` goes back to, from the events of a stack."""

from dataclasses import replace
from typing import Final

import pytest

from admin.use_cases.rollback import FunctionVersion, LiveFunction, Move, StackEvent, plan
from pillarbox.domain.errors import ServiceError

EMAIL: Final = LiveFunction(logical_id="SendEmail", name="email", deployed=7, live=7, fixed=False)
BATCH: Final = LiveFunction(logical_id="SendBatch", name="batch", deployed=4, live=4, fixed=False)


def version(status: str, name: str, number: int) -> StackEvent:
    return StackEvent(status, FunctionVersion(name, number))


START: Final = StackEvent("UPDATE_IN_PROGRESS", None)
LAST: Final = [
    version("DELETE_SKIPPED", "email", 5),
    version("CREATE_COMPLETE", "email", 7),
    START,
]


def test_a_function_that_the_deployment_did_not_change_stays() -> None:
    """Only SendEmail was deployed last; SendBatch is from the deployment before."""
    before = [version("DELETE_SKIPPED", "batch", 3), version("CREATE_COMPLETE", "batch", 4), START]
    assert plan([EMAIL, BATCH], [*LAST, *before]) == [Move(EMAIL, 5, done=False)]


def test_a_deployment_that_failed_is_skipped() -> None:
    """CloudFormation itself undid version 8; the versions that it left do not count."""
    failed = [version("DELETE_SKIPPED", "email", 8), version("CREATE_COMPLETE", "email", 8), START]
    assert plan([EMAIL], [*failed, *LAST]) == [Move(EMAIL, 5, done=False)]


def test_a_version_that_was_rolled_back_does_not_come_back() -> None:
    """Version 5 was replaced, but a rollback had put 3 in its place."""
    function = LiveFunction(
        logical_id="SendEmail", name="email", deployed=7, live=7, fixed=False, rolled_back={5: 3}
    )
    assert plan([function], LAST) == [Move(function, 3, done=False)]


def test_only_a_deployment_brings_a_version_back() -> None:
    """A version that a rollback put in place, or a rollback that did not end, is none."""
    again = replace(EMAIL, rolled_back={7: 5})
    assert again.deployed_again
    for other in (EMAIL, replace(again, fixed=True), replace(again, live=5)):
        assert not other.deployed_again


def test_a_function_that_is_new_stays() -> None:
    """There is no version of SendBatch before the deployment that created it."""
    events = [version("CREATE_COMPLETE", "batch", 4), *LAST]
    assert plan([EMAIL, BATCH], events) == [Move(EMAIL, 5, done=False)]


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ([version("CREATE_COMPLETE", "email", 7), START], "there is nothing before it"),
        ([START], "no deployment of functions"),
    ],
)
def test_without_a_version_before_nothing_is_moved(events: list[StackEvent], message: str) -> None:
    """The first deployment, and one that CloudFormation has forgotten, cannot be undone."""
    with pytest.raises(ServiceError, match=message):
        plan([EMAIL], events)


def test_an_alias_that_two_versions_share_is_moved() -> None:
    """A rollout that was stopped half-way leaves both versions live."""
    half = LiveFunction(logical_id="SendEmail", name="email", deployed=7, live=None, fixed=False)
    assert plan([half], LAST) == [Move(half, 5, done=False)]
