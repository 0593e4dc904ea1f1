"""What the status of a stack means for a deployment."""

from dataclasses import dataclass
from enum import StrEnum


class NextStep(StrEnum):
    """What a deployment does with a stack that exists."""

    UPDATE = "update"
    #: The stack has nothing yet.
    CREATE = "create"
    #: CloudFormation accepts nothing but its deletion.
    REMOVE = "remove"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class StackState:
    """A step, and what to say about it; nothing if all is well."""

    step: NextStep
    meaning: str = ""
    #: What the operator has to do, if the command stops here.
    remedy: str = ""


#: By CloudFormation's status codes:
#: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html (2026-11)
_STATES = {
    "REVIEW_IN_PROGRESS": StackState(
        NextStep.CREATE,
        "An earlier deployment was never confirmed, so the stack has nothing yet. This one creates"
        " it.",
    ),
    "ROLLBACK_COMPLETE": StackState(
        NextStep.REMOVE,
        "The first deployment failed, and CloudFormation removed what it had created. Such a stack"
        " cannot be updated, only deleted.",
    ),
    "ROLLBACK_FAILED": StackState(
        NextStep.REMOVE,
        "The first deployment failed, and CloudFormation could not remove everything that it had"
        " created. Such a stack cannot be updated, only deleted.",
    ),
    "CREATE_FAILED": StackState(
        NextStep.REMOVE,
        "The first deployment failed, and CloudFormation left what it had created. The next one"
        " begins again.",
    ),
    "DELETE_FAILED": StackState(
        NextStep.REMOVE,
        "Somebody deleted the stack, and CloudFormation could not delete everything. Such a stack"
        " cannot be updated.",
    ),
    "UPDATE_FAILED": StackState(
        NextStep.STOP,
        "The last deployment failed, and CloudFormation left it half done, as it was told.",
        "Undo it in CloudFormation's console (the stack, Stack actions, Roll back), then deploy"
        " again.",
    ),
    "UPDATE_ROLLBACK_FAILED": StackState(
        NextStep.STOP,
        "The last deployment failed, and CloudFormation could not go back to the state before it.",
        "Remove the cause that its events name, and let it go on in CloudFormation's console (the"
        " stack, Stack actions, Continue update rollback). Then deploy again.",
    ),
    "IMPORT_ROLLBACK_FAILED": StackState(
        NextStep.STOP,
        "The import of kept tables failed, and CloudFormation could not undo it.",
        "Remove the cause that its events name, delete the stack in CloudFormation's console, which"
        " keeps the tables, and run `pillarbox restore stack` again.",
    ),
}
_ROLLING_BACK = "The first deployment failed, and CloudFormation removes what it had created."
_DELETING = "The stack is being deleted."
_CHANGING = "Another deployment changes the stack."
_LATER = "Wait until it ends, which takes up to half an hour, and deploy again."


def read_state(status: str) -> StackState:
    """Return what a status of CloudFormation means for the next deployment."""
    if status in _STATES:
        return _STATES[status]
    if status.endswith("_IN_PROGRESS"):
        meanings = {"ROLLBACK_IN_PROGRESS": _ROLLING_BACK, "DELETE_IN_PROGRESS": _DELETING}
        return StackState(NextStep.STOP, meanings.get(status, _CHANGING), _LATER)
    return StackState(NextStep.UPDATE)
