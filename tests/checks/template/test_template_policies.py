"""`pillarbox policy deploy` allows what CloudFormation does with the templates."""

from fnmatch import fnmatchcase
from typing import Final

import pytest
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


@pytest.mark.slow
def test_who_deploys_may_do_what_cloudformation_does_as_the_caller() -> None:
    """AWS's registry names the rights of each handler of a resource's type."""
    statements = policy(Duty.DEPLOY, "pillarbox")["Statement"]
    granted = [action for statement in statements for action in statement["Action"]]
    kinds = {resource["Type"] for resource in _deployed(template.PATH).values()}
    for path in (template.ROOT / "stacks").glob("*.yaml"):
        kinds |= {resource["Type"] for resource in template.load(path)["Resources"].values()}
    needed = {
        action
        for kind in kinds
        for handler in PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", kind)
        .schema["handlers"]
        .values()
        for action in handler.get("permissions", ())
    }
    assert len(needed) > 400
    assert {
        action
        for action in needed - _WRONG
        if action.partition(":")[0] not in _UNUSED
        and not any(fnmatchcase(action, pattern) for pattern in granted)
    } == set()
