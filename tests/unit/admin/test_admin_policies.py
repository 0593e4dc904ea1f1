"""The IAM policies that `pillarbox policy` prints."""

import json
import re
from functools import cache

import pytest

from admin.use_cases.policies import _DEPLOY, _OPERATE, _READ, Duty, policy
from local import template


@pytest.mark.parametrize("duty", Duty)
def test_a_policy_fits_into_iam(duty: Duty) -> None:
    """A managed policy has at most 6,144 characters (IAM's quotas)."""
    document = policy(duty, "a" * 33)
    assert len(re.sub(r"\s", "", json.dumps(document))) <= 6144
    resources = [statement["Resource"] for statement in document["Statement"]]
    assert resources[0] == "*"
    assert all(
        "a" * 33 in place or ":iam:" in place or ":s3:" in place
        for places in resources[1:]
        for place in places
    )


def test_no_right_is_given_that_no_command_uses() -> None:
    methods = _methods()
    for table in (_READ, _OPERATE, _DEPLOY):
        for actions in table.values():
            for action in actions.split():
                name = re.sub(r"(?<!^)(?=[A-Z])", "_", action).lower()
                assert {name, f"{name}_batch", f"{name}s", OTHERWISE.get(name)} & methods, action


#: Actions whose calls have another name.
OTHERWISE = {"invoke_function": "invoke", "list_bucket": "head_bucket"}


@cache
def _methods() -> set[str]:
    """Every name of a method that the command's modules and the adapters call."""
    folders = (template.ROOT / "admin", template.ROOT / "layers/shared/pillarbox/adapters")
    texts = (path.read_text() for folder in folders for path in folder.rglob("*.py"))
    return {name for text in texts for name in re.findall(r"[.\"](\w+)[(\"]", text)}
