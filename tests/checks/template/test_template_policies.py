"""`pillarbox policy deploy` allows what CloudFormation does with the templates."""

from fnmatch import fnmatchcase
from functools import cache, partial
from typing import Any, Final

import pytest
from cfnlint.data import AdditionalSpecs
from cfnlint.helpers import load_resource
from cfnlint.schema import PROVIDER_SCHEMA_MANAGER

from admin.use_cases.policies import Duty, policy
from local import template
from tests.checks.template.test_template_rollout import _deployed

#: The services of features that no template of ours uses.
_UNUSED: Final = {
    *("amplify", "apprunner", "appsync", "bedrock-agentcore", "cognito-idp", "elasticfilesystem"),
    *("firehose", "kinesis", "kms", "payments", "s3files", "s3tables", "vpc-lattice", "vpce"),
}
#: What the registry calls an action that IAM does not know.
_WRONG: Final = {"s3:REST.PUT.OBJECT", "wafv2:listWebACLs"}


@cache
def _needed() -> set[str]:
    """The rights of the handlers of all our types of resources, in AWS's registry."""
    kinds = {resource["Type"] for resource in _deployed(template.PATH).values()}
    for path in (template.ROOT / "stacks").glob("*.yaml"):
        kinds |= {resource["Type"] for resource in template.load(path)["Resources"].values()}
    return {
        action
        for kind in kinds
        for handler in PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", kind)
        .schema["handlers"]
        .values()
        for action in handler.get("permissions", ())
        if action.partition(":")[0] not in _UNUSED
    } - _WRONG


def _denied(needed: set[str], statements: list[dict[str, Any]]) -> set[str]:
    granted = [action for statement in statements for action in statement["Action"]]
    return {
        action for action in needed if not any(fnmatchcase(action, pattern) for pattern in granted)
    }


@pytest.mark.slow
def test_who_deploys_may_do_what_cloudformation_does_as_the_caller() -> None:
    assert len(_needed()) > 400
    assert _denied(_needed(), policy(Duty.DEPLOY, "pillarbox")["Statement"]) == set()


#: cfn-lint's copy of the service authorization reference, which takes long to read.
_authorized: Final = cache(partial(load_resource, AdditionalSpecs, "Policies.json"))


def _has_no_resource(action: str) -> bool:
    """Whether AWS's reference knows it, and no resource."""
    service, _, name = action.partition(":")
    known = _authorized()[service]["Actions"].get(name.lower())
    return known is not None and "Resources" not in known


@pytest.mark.slow
@pytest.mark.parametrize("duty", Duty)
def test_what_aws_authorizes_on_no_resource_is_allowed_on_all(duty: Duty) -> None:
    statements = policy(duty, "pillarbox")["Statement"]
    needed = _needed() if duty is Duty.DEPLOY else set[str]()
    needed |= {one for each in statements for one in each["Action"] if not one.endswith("*")}
    assert _denied(set(filter(_has_no_resource, needed)), statements[:1]) == set()
    assert all(each["Resource"] != "*" for each in statements[1:])
