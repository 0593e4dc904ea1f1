"""What a status of CloudFormation means for a deployment."""

import botocore.session

from admin.use_cases.stack_states import NextStep, read_state
from tests.loops import for_each

_MODEL = botocore.session.Session().get_service_model("cloudformation")
_STATUSES: list[str] = list(_MODEL.shape_for("StackStatus").metadata["enum"])


def steps(step: NextStep) -> set[str]:
    return {status for status in _STATUSES if read_state(status).step is step}


def test_every_status_has_a_step() -> None:
    assert steps(NextStep.UPDATE) == {
        "CREATE_COMPLETE",
        "DELETE_COMPLETE",  # only a stack that is asked for by its id has it
        "IMPORT_COMPLETE",
        "IMPORT_ROLLBACK_COMPLETE",
        "UPDATE_COMPLETE",
        "UPDATE_ROLLBACK_COMPLETE",
    }
    assert steps(NextStep.CREATE) == {"REVIEW_IN_PROGRESS"}
    assert steps(NextStep.REMOVE) == {
        "CREATE_FAILED",
        "DELETE_FAILED",
        "ROLLBACK_COMPLETE",
        "ROLLBACK_FAILED",
    }


@for_each("status", _STATUSES)
def test_each_step_but_an_update_has_words(status: str) -> None:
    state = read_state(status)
    assert bool(state.meaning) == (state.step is not NextStep.UPDATE)
    assert bool(state.remedy) == (state.step is NextStep.STOP)
