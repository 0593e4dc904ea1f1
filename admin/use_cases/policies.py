"""What the command needs from AWS, as IAM policies for three kinds of people."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Final


class Duty(StrEnum):
    """Who gets a policy."""

    #: Deploys, restores and tears down stacks.
    DEPLOY = "deploy"
    #: Is on call: all other commands.
    OPERATE = "operate"
    #: Looks, and changes nothing.
    READ = "read"


type _Actions = Mapping[str, str]

#: A service -> the actions with which the commands look.
_READ: Final[_Actions] = {
    "cloudformation": "DescribeStackResource DescribeStacks ListStackResources",
    "cloudwatch": "DescribeAlarms GetMetricStatistics",
    "dynamodb": "BatchGetItem DescribeContinuousBackups DescribeTable DescribeTimeToLive GetItem"
    " Query",
    "lambda": "GetAccountSettings",
    "s3": "GetBucketPolicy",
    "ses": "DescribeActiveReceiptRuleSet GetAccount GetConfigurationSet"
    " GetConfigurationSetEventDestinations GetEmailIdentity ListSuppressedDestinations ListTenants",
    "sns": "ListSubscriptionsByTopic",
    "sqs": "GetQueueAttributes",
}
#: What the other commands need besides. SES's lists of tenants are read and changed as a role.
_OPERATE: Final[_Actions] = {
    "dynamodb": "BatchWriteItem DeleteItem PartiQLInsert PutItem UpdateItem",
    "route53": "ChangeResourceRecordSets ListHostedZones ListResourceRecordSets",
    "s3": "DeleteObject",
    "secretsmanager": "CreateSecret GetSecretValue PutSecretValue",
    "servicequotas": "ListServiceQuotas RequestServiceQuotaIncrease",
    "ses": "CreateEmailIdentity CreateTenant CreateTenantResourceAssociation"
    " DeleteSuppressedDestination DeleteTenant GetTenant ListTenantResources PutAccountDetails"
    " PutConfigurationSetSendingOptions PutEmailIdentityFeedbackAttributes"
    " PutEmailIdentityMailFromAttributes PutTenantSuppressionAttributes"
    " UpdateReputationEntityPolicy",
    "sns": "Subscribe",
    "sqs": "ChangeMessageVisibility DeleteMessage ReceiveMessage SendMessage",
    "ssm": "GetParameter PutParameter",
}
#: What `deploy`, `restore`, `teardown`, `edge` and `relay` call themselves besides.
_DEPLOY: Final[_Actions] = {
    "cloudformation": "CreateChangeSet DeleteChangeSet DeleteStack DescribeChangeSet"
    " ExecuteChangeSet ListStacks SetStackPolicy",
    "dynamodb": "RestoreTableToPointInTime",
    "ecr": "BatchGetImage CreateRepository DescribeImages DescribeRepositories"
    " GetAuthorizationToken GetDownloadUrlForLayer PutLifecyclePolicy",
    "lambda": "InvokeFunction",
    "secretsmanager": "RestoreSecret",
    "ses": "PutAccountPricingAttributes SetActiveReceiptRuleSet",
}
#: A service -> how the actions begin with which CloudFormation makes, changes and deletes the
#: resources of the templates as the caller, by the handlers of their types in its registry.
RESOURCES: Final[_Actions] = {
    "apigateway": "DELETE GET PATCH POST PUT SetWebACL UpdateRestApiPolicy",
    "application-autoscaling": "Delete Deregister Describe List Put Register Tag Untag",
    "cloudformation": "Create Delete Describe Get List Set Update",
    "cloudfront": "Create Delete Describe Get List Publish Tag Untag Update",
    "cloudwatch": "Delete Describe Get List Put Tag Untag",
    "codedeploy": "Create Delete Get List Register Stop Tag Untag Update",
    "dynamodb": "Associate BatchWrite Create Delete Describe Disable Enable Get Import List Put"
    " Query Scan Tag Untag Update",
    "ec2": "Allocate Associate Attach Authorize Create Delete Describe Detach Disassociate Get"
    " Modify Replace Revoke Update",
    "ecs": "Create Delete Deregister Describe List Put Register Stop Tag Untag Update",
    "elasticloadbalancing": "Add Create Delete Deregister Describe Get Modify Register Remove Set",
    "events": "Delete Describe List Put Remove Tag Untag",
    "iam": "Attach Create Delete Detach Get List Pass Put Tag Untag Update",
    "lambda": "Add Associate Create Delete Get List Pass Publish Put Remove Tag Untag Update",
    "logs": "Associate Create Delete Describe Disassociate Get List Put Tag Untag",
    "s3": "Create Delete Get List Put Tag Untag Update",
    "secretsmanager": "Create Delete Describe Get List Remove Replicate Tag Untag Update",
    "ses": "Create Delete Describe Get List Put Tag Untag Update",
    "sns": "Create Delete Get List Put Set Subscribe Tag Unsubscribe Untag",
    "sqs": "Create Delete Get List Set Tag Untag",
    "sts": "AssumeRole",
    "wafv2": "Associate Create Delete Disassociate Get List Put Tag Untag Update",
}
#: Those of them that AWS authorizes on no resource, by the service authorization reference.
_ON_NO_RESOURCE: Final[_Actions] = {
    "dynamodb": "ListTables",
    "iam": "ListRoles",
    "s3": "ListAllMyBuckets",
    "secretsmanager": "GetRandomPassword ListSecrets",
    "sns": "ListTopics",
    "sqs": "ListQueues",
}
#: A service -> how the ARNs of what a stack has there end; `*` for the services that are left out.
_OWN: Final[Mapping[str, tuple[str, ...]]] = {
    "dynamodb": ("dynamodb:*:*:table/{stack}*",),
    # CloudFormation cuts a stack's name to 24 characters in that of a role, which may have 64. A
    # role that does not exist yet has no path.
    "iam": (
        *("iam::*:role/{stack:.24}*", "iam::*:role/aws-service-role/*"),
        "iam::*:role/AWSServiceRole*",
    ),
    "s3": ("s3:::{stack}-*", "s3:::pillarbox-releases-*"),
    "secretsmanager": ("secretsmanager:*:*:secret:{stack}*",),
    "sns": ("sns:*:*:{stack}-*",),
    "sqs": ("sqs:*:*:{stack}-*",),
    "ssm": ("ssm:*:*:parameter/{stack}*",),
    "sts": ("iam::*:role/aws-service-role/*",),
}
#: CloudFormation names a secret after its logical id only.
_EDGE_SECRET: Final = "secretsmanager:*:*:secret:EdgeSecret-*"  # noqa: S105  a name


def policy(duty: Duty, stack_name: str) -> dict[str, Any]:
    own, others = list[dict[str, Any]](), list[str]()
    if duty is Duty.DEPLOY:
        others += [f"{service}:{action}" for service, action in _pairs(_ON_NO_RESOURCE)]
    for service, actions in sorted(_actions(duty).items()):
        named = sorted(f"{service}:{action}" for action in actions)
        if service in _OWN:
            ends = _OWN[service]
            if service == "secretsmanager" and duty is Duty.DEPLOY:
                ends += (_EDGE_SECRET,)
            name = stack_name.lower() if service == "s3" else stack_name
            places = [f"arn:aws:{end.format(stack=name)}" for end in ends]
            own.append({"Effect": "Allow", "Action": named, "Resource": places})
        else:
            others += named
    whole = {"Effect": "Allow", "Action": others, "Resource": "*"}
    return {"Version": "2012-10-17", "Statement": [whole, *own]}


def _actions(duty: Duty) -> dict[str, set[str]]:
    tables = {Duty.READ: (_READ,), Duty.OPERATE: (_READ, _OPERATE)}.get(
        duty, (_READ, _OPERATE, _DEPLOY)
    )
    found: dict[str, set[str]] = {}
    for service, action in _pairs(*tables):
        found.setdefault(service, set()).add(action)
    if duty is Duty.DEPLOY:
        for service, start in _pairs(RESOURCES):
            found.setdefault(service, set()).add(f"{start}*")
        for service, actions in found.items():
            starts = {action[:-1] for action in actions if action.endswith("*")}
            covered = {a for a in actions if not a.endswith("*") and a.startswith(tuple(starts))}
            found[service] = actions - covered
    return found


def _pairs(*tables: _Actions) -> Iterator[tuple[str, str]]:
    for table in tables:
        for service, actions in table.items():
            for action in actions.split():
                yield service, action
