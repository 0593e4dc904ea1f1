"""Policies of buckets, queues and roles allow what they are for, and nothing else."""

from functools import partial
from itertools import product
from typing import Final

from tests.deployed import of_type, resources
from tests.loops import for_each
from tests.resource_policies import decide, policy_of

_ACCOUNT: Final = "123456789012"
_EDGE: Final = f"arn:aws:cloudfront::{_ACCOUNT}:distribution/Edge"
_OF_BUCKETS: Final = ("AWS::S3::BucketPolicy", "Bucket")
_OF_QUEUES: Final = ("AWS::SQS::QueuePolicy", "Queues")
_CONTAINERS: Final = {"RelayRole", "RelayExecutionRole"}


def _named(kind: str) -> list[str]:
    return [name for name, one in resources("everything").items() if one["Type"] == kind]


@for_each("name", _named("AWS::S3::Bucket"))
def test_buckets_require_tls(name: str) -> None:
    """Nobody may do anything without TLS, and the policy denies nothing with it."""
    request = partial(decide, policy_of(*_OF_BUCKETS, name), "arn:role")
    for action, place in product(("Get", "Put", "Delete"), ("", "/a/b")):
        assert (
            request(f"s3:{action}Object", f"arn:{name}{place}", SecureTransport="false") == "Deny"
        )
        assert request(f"s3:{action}Object", f"arn:{name}{place}", SecureTransport="true") is None


@for_each("name", _named("AWS::SQS::Queue"))
def test_queues_require_tls(name: str) -> None:
    """Nobody may do anything without TLS, and the policy denies nothing with it."""
    request = partial(decide, policy_of(*_OF_QUEUES, name), "arn:role")
    for action in ("sqs:SendMessage", "sqs:ReceiveMessage", "sqs:DeleteMessage"):
        assert request(action, f"arn:{name}", SecureTransport="false") == "Deny"
        assert request(action, f"arn:{name}", SecureTransport="true") is None


@for_each(
    ("bucket", "served", "others"),
    [
        ("ErrorPages", ["errors/unavailable.json"], ["x", "app/index.html"]),
        ("DashboardFiles", ["app/index.html", "assets/a.js", "widget.js"], ["x", "errors/x"]),
        ("SpoolBucket", [], ["x", "errors/x", "app/x", "kept/1/x"]),
    ],
)
def test_only_the_distribution_reads_what_it_serves(
    bucket: str, served: list[str], others: list[str]
) -> None:
    """CloudFront reads files of these paths for this distribution, and writes none."""
    request = partial(decide, policy_of(*_OF_BUCKETS, bucket))
    service, secure = "cloudfront.amazonaws.com", {"SecureTransport": "true"}
    for file in (*served, *others):
        place = f"arn:{bucket}/{file}"
        read = request(service, "s3:GetObject", place, SourceArn=_EDGE, **secure)
        assert (read == "Allow") is (file in served)
        for source in ({"SourceArn": f"{_EDGE}2"}, {"SourceAccount": _ACCOUNT}):
            assert request(service, "s3:GetObject", place, **source, **secure) != "Allow"
        assert request(service, "s3:PutObject", place, SourceArn=_EDGE, **secure) is None
        assert request("lambda.amazonaws.com", "s3:GetObject", place, **secure) != "Allow"
    looked = request(service, "s3:ListBucket", f"arn:{bucket}", SourceArn=_EDGE, **secure)
    assert (looked == "Allow") is (bucket == "DashboardFiles")


def test_only_one_function_reads_kept_content() -> None:
    """Every other role is denied, also one whose own policy allows it."""
    request = partial(decide, policy_of(*_OF_BUCKETS, "SpoolBucket"), "arn:role", "s3:GetObject")
    for role in of_type("AWS::IAM::Role", "everything"):
        by = {"PrincipalArn": f"arn:{role}", "SecureTransport": "true"}
        kept = request("arn:SpoolBucket/kept/7/acct1/1", **by)
        assert (kept == "Deny") is (role != "ChangeMessageRole")
        assert request("arn:SpoolBucket/acct1/1", **by) is None
    assert request("arn:SpoolBucket/kept/1/x", SecureTransport="true") == "Deny"


@for_each("name", _named("AWS::SQS::Queue"))
def test_only_rules_send_events(name: str) -> None:
    request = partial(decide, policy_of(*_OF_QUEUES, name), SecureTransport="true")
    for rule in ("EventsRule", "TenantsRule", "SweepMessagesHourly"):
        send = ("sqs:SendMessage", f"arn:{name}")
        sent = request("events.amazonaws.com", *send, SourceArn=f"arn:{rule}")
        is_own = name in {"EventsQueue", "EventsDeadLetters"} and rule != "SweepMessagesHourly"
        assert (sent == "Allow") is is_own
        assert request("sns.amazonaws.com", *send, SourceArn=f"arn:{rule}") is None
    assert request("events.amazonaws.com", "sqs:SendMessage", f"arn:{name}") is None


@for_each("name", of_type("AWS::IAM::Role", "everything"))
def test_only_its_service_assumes_a_role(name: str) -> None:
    """Lambda assumes the roles of functions, and ECS those of containers, for this account."""
    request = partial(
        decide,
        of_type("AWS::IAM::Role", "everything")[name]["AssumeRolePolicyDocument"],
        action="sts:AssumeRole",
    )
    own, other = "lambda.amazonaws.com", "ecs-tasks.amazonaws.com"
    if name in _CONTAINERS:
        own, other = other, own
        assert request(own) is None
        assert request(own, SourceAccount="210987654321") is None
    assert request(own, SourceAccount=_ACCOUNT) == "Allow"
    assert request(other, SourceAccount=_ACCOUNT) is None
