"""`pillarbox deploy` on a stack that a failed deployment left, with AWS's documented answers."""

from datetime import datetime, timedelta
from typing import Any, Final

import pytest
import typer

from admin import failed_stack
from admin.aws import stacks
from admin.connection import StackConnection
from pillarbox.adapters.dynamodb import keys
from pillarbox.domain.errors import ServiceError
from tests.integration.admin.aws_stubs import WHEN, Stubs, stack_id
from tests.refusals import refusal

STACK: Final = stack_id("pillarbox")
TABLES: Final = {"Table": "pillarbox-Table-1", "Credentials": "pillarbox-Credentials-1"}
UNVERIFIED: Final = (
    "Resource handler returned message: \"Access denied for operation 'CreateDistribution: Your"
    " account must be verified before you can add new CloudFront resources. To verify your account,"
    ' please contact AWS Support."'
)
SESSION: Final = StackConnection(stack_name="pillarbox", json=False)


def event(
    name: str, status: str, reason: str = "", physical_id: str = "id", kind: str = "AWS::X::Y"
) -> dict[str, Any]:
    return {
        "StackId": STACK,
        "EventId": f"{name}-{status}",
        "StackName": "pillarbox",
        "LogicalResourceId": name,
        "PhysicalResourceId": physical_id,
        "ResourceType": kind,
        "ResourceStatus": status,
        "ResourceStatusReason": reason,
        "Timestamp": WHEN,
    }


def failed_at(stubs: Stubs, *failures: tuple[str, str]) -> None:
    """Prepare the events, the newest first, of a creation that failed at resources."""
    events = [
        event("pillarbox", "ROLLBACK_COMPLETE", physical_id=STACK),
        *(event(name, "CREATE_FAILED", reason) for name, reason in reversed(failures)),
        event("Table", "CREATE_COMPLETE"),
    ]
    stubs.answer("cloudformation", "describe_stack_events", {"StackEvents": events})


def table(*, protected: bool) -> dict[str, Any]:
    return {"Table": {"ItemCount": 0, "DeletionProtectionEnabled": protected}}


def left(stubs: Stubs, *, protected: bool | None, rows: list[str]) -> None:
    """Prepare what the stack left: tables with rows, or none (`protected` is None)."""
    stubs.resources(TABLES, status="DELETE_FAILED")
    for name in TABLES.values():
        if protected is None:
            stubs.refuse("dynamodb", "describe_table", "ResourceNotFoundException")
        else:
            stubs.answer(
                "dynamodb", "describe_table", table(protected=protected), {"TableName": name}
            )
    stubs.answer("cloudformation", "describe_stacks", {"Stacks": []})  # no other stack
    if protected is not None:
        scans(stubs, rows)


def scans(stubs: Stubs, rows: list[str]) -> None:
    """Prepare that both tables are read; the first one has the rows."""
    items = [{"pk": {"S": pk}} for pk in rows]
    for name, found in zip(TABLES.values(), (items, []), strict=True):
        expected = {"TableName": name, "ConsistentRead": True, "ProjectionExpression": "pk"}
        stubs.answer("dynamodb", "scan", {"Items": found}, expected)


def deletion(stubs: Stubs, status: str, reason: str = "") -> None:
    """Prepare the deletion of the stack, which ends in a status."""
    stubs.answer("cloudformation", "delete_stack", {}, {"StackName": STACK})
    stubs.stack("pillarbox", "DELETE_IN_PROGRESS")
    stubs.stack("pillarbox", status, StackStatusReason=reason)


def unprotection(stubs: Stubs) -> None:
    """Prepare that the protection of both tables is switched off."""
    for name in TABLES.values():
        stubs.answer("dynamodb", "describe_table", table(protected=True))
        stubs.answer(
            "dynamodb",
            "update_table",
            {},
            {"TableName": name, "DeletionProtectionEnabled": False},
        )
        stubs.answer("dynamodb", "describe_table", {"Table": {"TableStatus": "ACTIVE"}})


def table_deletion(stubs: Stubs) -> None:
    """Prepare that both tables, which are not protected any more, are deleted."""
    for name in TABLES.values():
        stubs.answer("dynamodb", "describe_table", table(protected=False))
        stubs.answer("dynamodb", "delete_table", {}, {"TableName": name})
        stubs.refuse("dynamodb", "describe_table", "ResourceNotFoundException")


def test_review_in_progress_is_a_new_stack(
    stubs: Stubs, capsys: pytest.CaptureFixture[str]
) -> None:
    """Changes without a confirmation created nothing: nothing is removed, without a question."""
    stubs.stack("pillarbox", "REVIEW_IN_PROGRESS")
    assert failed_stack.make_way(SESSION, yes=False) is None
    assert "is in REVIEW_IN_PROGRESS. An earlier deployment was never" in capsys.readouterr().err


def test_rollback_complete_is_removed(stubs: Stubs, capsys: pytest.CaptureFixture[str]) -> None:
    """CloudFormation removed the resources, so only the stack is deleted; the first cause shows."""
    stubs.stack("pillarbox", "ROLLBACK_COMPLETE")
    failed_at(stubs, ("Edge", UNVERIFIED), ("Api", "Resource creation cancelled"))
    left(stubs, protected=None, rows=[])
    deletion(stubs, "DELETE_COMPLETE")
    assert failed_stack.make_way(SESSION, yes=True) is None
    said = capsys.readouterr().err
    assert "is in ROLLBACK_COMPLETE. The first deployment failed" in said
    assert f"AWS's reason: Edge: {UNVERIFIED}\n" in said
    assert "deploy with EdgeService=none" in said
    assert said.endswith("Removed the stack pillarbox.\n")


@pytest.mark.parametrize(
    ("status", "rows"),
    [
        ("ROLLBACK_FAILED", []),
        ("ROLLBACK_FAILED", [keys.timer_note("DUE")["pk"]["S"], keys.heartbeat()["pk"]["S"]]),
        ("CREATE_FAILED", []),
    ],
)
def test_a_failed_stack_with_empty_tables_is_removed(
    stubs: Stubs, status: str, rows: list[str]
) -> None:
    """Protected tables block CloudFormation, so their protection goes first; notes are no data."""
    reason = "The following resource(s) failed to delete: [Table, Credentials]. "
    stubs.stack("pillarbox", status, StackStatusReason=reason)
    failed_at(stubs, ("Edge", UNVERIFIED))
    left(stubs, protected=True, rows=rows)
    unprotection(stubs)
    deletion(stubs, "DELETE_COMPLETE")
    scans(stubs, rows)
    table_deletion(stubs)
    assert failed_stack.make_way(SESSION, yes=True) is None


def test_tables_that_cloudformation_deleted_are_not_missed(stubs: Stubs) -> None:
    stubs.stack("pillarbox", "ROLLBACK_FAILED")
    failed_at(stubs)
    left(stubs, protected=True, rows=[])
    unprotection(stubs)
    deletion(stubs, "DELETE_COMPLETE")
    for operation in ("scan", "scan", "describe_table", "describe_table"):
        stubs.refuse("dynamodb", operation, "ResourceNotFoundException")
    assert failed_stack.make_way(SESSION, yes=True) is None


def test_rows_that_come_after_the_check_stay(stubs: Stubs) -> None:
    """A stack that was left half created may still write until it is gone: its tables stay then."""
    stubs.stack("pillarbox", "CREATE_FAILED")
    failed_at(stubs)
    left(stubs, protected=True, rows=[])
    unprotection(stubs)
    deletion(stubs, "DELETE_COMPLETE")
    scans(stubs, [keys.account("qh4ybvcvbqzk")["pk"]["S"]])
    with pytest.raises(ServiceError, match="its tables and buckets stay, because there are rows"):
        failed_stack.make_way(SESSION, yes=True)


@pytest.mark.parametrize("status", ["ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED"])
def test_a_stack_with_rows_is_never_removed(stubs: Stubs, status: str) -> None:
    stubs.stack("pillarbox", status, StackStatusReason="no")
    if status != "DELETE_FAILED":
        failed_at(stubs)
    left(stubs, protected=True, rows=["DUES", keys.account("qh4ybvcvbqzk")["pk"]["S"]])
    with pytest.raises(ServiceError, match=r"rows in pillarbox-Table-1\. Run .* teardown") as error:
        failed_stack.make_way(SESSION, yes=True)
    assert error.value.message.endswith("Nothing was built.")


def test_without_an_answer_nothing_is_removed(
    stubs: Stubs, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def no(question: str, **_: Any) -> bool:
        asked.append(question)
        return False

    monkeypatch.setattr("typer.confirm", no)
    stubs.stack("pillarbox", "ROLLBACK_FAILED")
    failed_at(stubs)
    left(stubs, protected=False, rows=[])
    with pytest.raises(typer.Abort):
        failed_stack.make_way(SESSION, yes=False)
    assert asked == ["Remove the stack pillarbox, which has no data, and deploy again?"]


def test_termination_protection_is_respected(stubs: Stubs) -> None:
    """AWS would refuse the deletion, and the operator learns it before anything is asked."""
    stubs.stack("pillarbox", "ROLLBACK_COMPLETE", EnableTerminationProtection=True)
    failed_at(stubs)
    left(stubs, protected=None, rows=[])
    with pytest.raises(ServiceError, match="termination protection"):
        failed_stack.make_way(SESSION, yes=True)


def test_delete_failed_goes_on(stubs: Stubs, capsys: pytest.CaptureFixture[str]) -> None:
    reason = "The following resource(s) failed to delete: [Edge]. "
    stubs.stack("pillarbox", "DELETE_FAILED", StackStatusReason=reason)
    left(stubs, protected=None, rows=[])
    deletion(stubs, "DELETE_FAILED", reason)
    with pytest.raises(ServiceError, match="could not delete everything: DELETE_FAILED"):
        failed_stack.make_way(SESSION, yes=True)
    assert f"AWS's reason: {reason}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("CREATE_IN_PROGRESS", "Another deployment changes the stack. Wait"),
        ("UPDATE_IN_PROGRESS", "Another deployment changes the stack. Wait"),
        ("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", "Another deployment changes the stack. Wait"),
        ("ROLLBACK_IN_PROGRESS", "CloudFormation removes what it had created. Wait"),
        ("DELETE_IN_PROGRESS", "The stack is being deleted. Wait"),
        ("UPDATE_FAILED", "Stack actions, Roll back"),
        ("UPDATE_ROLLBACK_FAILED", "Continue update rollback"),
        ("IMPORT_ROLLBACK_FAILED", "restore stack"),
    ],
)
def test_a_stack_that_cannot_be_updated_stops_the_command(
    stubs: Stubs, status: str, words: str
) -> None:
    stubs.stack("pillarbox", status)
    error = refusal(failed_stack.make_way, SESSION, yes=True)
    assert error.message.startswith(f"The stack pillarbox is in {status}. ")
    assert words in error.message
    assert error.message.endswith("Nothing was built.")


@pytest.mark.parametrize("status", ["ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED"])
def test_a_first_deployment_that_fails_is_explained(
    stubs: Stubs, capsys: pytest.CaptureFixture[str], status: str
) -> None:
    stubs.stack("pillarbox", status)
    failed_at(stubs, ("Edge", UNVERIFIED))
    failed_stack.explain("pillarbox")
    said = capsys.readouterr().err
    assert f"AWS's reason: Edge: {UNVERIFIED}" in said
    assert "EdgeService=none" in said
    assert "Run the command again: it removes what is left" in said


def test_an_update_that_fails_needs_no_explanation(
    stubs: Stubs, capsys: pytest.CaptureFixture[str]
) -> None:
    """CloudFormation went back by itself, and sam's output has the reason."""
    stubs.stack("pillarbox", "UPDATE_ROLLBACK_COMPLETE")
    failed_stack.explain("pillarbox")
    assert capsys.readouterr().err == ""


def test_the_cause_in_a_nested_stack_is_found(stubs: Stubs) -> None:
    """The event of a nested stack only names it, so its own events are read."""
    kind, nested = "AWS::CloudFormation::Stack", STACK.replace("pillarbox", "pillarbox-Relay")
    reason = f"Embedded stack {nested} was not successfully created: [RelayCluster]."
    outer = event("Relay", "CREATE_FAILED", reason, nested, kind)
    own = event("pillarbox", "CREATE_FAILED", "as told", STACK, kind)
    stubs.answer("cloudformation", "describe_stack_events", {"StackEvents": [own, outer]})
    inner = event("RelayCluster", "CREATE_FAILED", "Unable to assume the service linked role.")
    stubs.answer(
        "cloudformation", "describe_stack_events", {"StackEvents": [inner]}, {"StackName": nested}
    )
    cause = stacks.first_failure(STACK)
    assert cause == "Relay: RelayCluster: Unable to assume the service linked role."


def test_an_update_is_told_apart_from_what_failed_before(stubs: Stubs) -> None:
    """By AWS's clock; a creation that failed long ago is not why an update fails."""
    moment = datetime.fromisoformat(WHEN)
    at = {"Timestamp": moment}
    earlier = event("Table", "CREATE_FAILED", "of the first deployment") | at
    before = event("pillarbox", "UPDATE_COMPLETE", physical_id=STACK) | at
    failed = event("SendEmail", "UPDATE_FAILED", "no such layer")
    failed |= {"Timestamp": moment + timedelta(seconds=1)}
    events = {"StackEvents": [failed, before, earlier]}
    stubs.answer("cloudformation", "describe_stack_events", {"StackEvents": [before, earlier]})
    stubs.answer("cloudformation", "describe_stack_events", events, {"StackName": STACK})
    after = stacks.newest_event_at(STACK)
    assert after == moment
    assert stacks.first_failure(STACK, after) == "SendEmail: no such layer"
