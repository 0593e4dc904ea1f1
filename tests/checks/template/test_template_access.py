"""Policies of buckets, queues and roles allow what they are for, and nothing else."""

from functools import partial
from itertools import product
from typing import Final

from tests.deployed import of_type, resources
from tests.loops import for_each
from tests.resource_policies import decide, policy_of

_ACCOUNT: Final = "123456789012"
_EDGE: Final = f"arn:aws:cloudfront::{_ACCOUNT}:distribution/Edge"
_CONTAINERS: Final = {"RelayRole", "RelayExecutionRole"}
_ROLES: Final = of_type("AWS::IAM::Role", "everything")


def _named(kind: str) -> list[str]:
    return [name for name, one in resources("everything").items() if one["Type"] == kind]


_QUEUES: Final = _named("AWS::SQS::Queue")


@for_each("name", [*_QUEUES, *_named("AWS::S3::Bucket")])
def test_buckets_and_queues_require_tls(name: str) -> None:
    """Without it everything is denied to everyone, and with it nothing to most."""
    actions = ("sqs:SendMessage", "sqs:ReceiveMessage", "sqs:DeleteMessage")
    places = [""]
    if name not in _QUEUES:
        actions, places = ("s3:GetObject", "s3:PutObject", "s3:DeleteObject"), ["", "/a/b"]
    for action, place in product(actions, places):
        request = partial(decide, policy_of(name), "arn:role", action, f"arn:{name}{place}")
        assert request(SecureTransport="false") == "Deny"
        assert request(SecureTransport="true") is None


@for_each(
    ("bucket", "served", "others"),
    [
        ("ErrorPages", ["errors/unavailable.json"], ["x", "app/index.html"]),
        ("DashboardFiles", ["app/index.html", "assets/a.js", "widget.js"], ["x", "errors/x"]),
        ("SpoolBucket", [], ["x", "errors/x", "app/x", "kept/1/x", "received/x"]),
    ],
)
def test_only_the_distribution_reads_what_it_serves(
    bucket: str, served: list[str], others: list[str]
) -> None:
    """CloudFront reads files of these paths for this distribution, and writes none."""
    request = partial(decide, policy_of(bucket), SecureTransport="true")
    service = "cloudfront.amazonaws.com"
    for file in (*served, *others):
        place = f"arn:{bucket}/{file}"
        read = request(service, "s3:GetObject", place, SourceArn=_EDGE)
        assert (read == "Allow") is (file in served)
        for source in ({"SourceArn": f"{_EDGE}2"}, {"SourceAccount": _ACCOUNT}):
            assert request(service, "s3:GetObject", place, **source) != "Allow"
        assert request(service, "s3:PutObject", place, SourceArn=_EDGE) is None
        assert request("lambda.amazonaws.com", "s3:GetObject", place) != "Allow"
    looked = request(service, "s3:ListBucket", f"arn:{bucket}", SourceArn=_EDGE)
    assert (looked == "Allow") is (bucket == "DashboardFiles")


@for_each("role", ["", *_ROLES])
def test_few_roles_read_what_the_bucket_keeps(role: str) -> None:
    """Others are denied it, also if their own policy allows it: most of all DeliverMessage."""
    who = {"PrincipalArn": f"arn:{role}"} if role else {}
    request = partial(
        decide, policy_of("SpoolBucket"), "arn:role", "s3:GetObject", SecureTransport="true"
    )
    denied = {
        place
        for place in ("kept/7/acct1/1", "received/1", "answers/1", "acct1/1")
        if request(f"arn:SpoolBucket/{place}", **who) == "Deny"
    }
    expected = {"kept/7/acct1/1"} if role != "ChangeMessageRole" else set[str]()
    expected |= {"received/1"} if role != "ReceiveEmailRole" else set[str]()
    expected |= {"answers/1"} if role in {"ChangeMessageRole", "DeliverMessageRole"} else set[str]()
    assert denied == expected


def test_ses_stores_what_rules_of_this_stack_receive() -> None:
    rule = f"arn:aws:ses:us-east-1:{_ACCOUNT}:receipt-rule-set/default:receipt-rule/pillarbox-1"
    store = partial(
        decide,
        policy_of("SpoolBucket"),
        "ses.amazonaws.com",
        "s3:PutObject",
        SecureTransport="true",
    )
    place, other = "arn:SpoolBucket/received/1", rule.replace("rule/pillarbox", "rule/other")
    assert store(place, SourceArn=rule, SourceAccount=_ACCOUNT) == "Allow"
    assert store("arn:SpoolBucket/kept/1", SourceArn=rule, SourceAccount=_ACCOUNT) is None
    assert store(place, SourceArn=other, SourceAccount=_ACCOUNT) is None
    assert store(place, SourceArn=rule, SourceAccount="210987654321") is None


@for_each("name", _QUEUES)
def test_only_its_source_sends_to_a_queue(name: str) -> None:
    """Rules send events of SES, and the bucket what it has received."""
    request = partial(
        decide,
        policy_of(name),
        action="sqs:SendMessage",
        resource=f"arn:{name}",
        SecureTransport="true",
    )
    for rule in ("EventsRule", "TenantsRule", "SweepMessagesHourly"):
        sent = request("events.amazonaws.com", SourceArn=f"arn:{rule}")
        is_own = name in {"EventsQueue", "EventsDeadLetters"} and rule != "SweepMessagesHourly"
        assert (sent == "Allow") is is_own
        assert request("sns.amazonaws.com", SourceArn=f"arn:{rule}") is None
    assert request("events.amazonaws.com") is None
    stored = request("s3.amazonaws.com", SourceAccount=_ACCOUNT)
    assert (stored == "Allow") is (name == "ReceivedQueue")
    assert request("s3.amazonaws.com", SourceAccount="210987654321") is None


@for_each("name", _ROLES)
def test_only_its_service_assumes_a_role(name: str) -> None:
    """Lambda assumes the roles of functions, and ECS those of containers, for this account."""
    request = partial(decide, _ROLES[name]["AssumeRolePolicyDocument"], action="sts:AssumeRole")
    own, others = "lambda.amazonaws.com", ["ecs-tasks.amazonaws.com"]
    if name in _CONTAINERS:
        own, others = others[0], [own]
        assert request(own) is None
        assert request(own, SourceAccount="210987654321") is None
    assert request(own, SourceAccount=_ACCOUNT) == "Allow"
    for other in (*others, "ec2.amazonaws.com", f"arn:aws:iam::{_ACCOUNT}:root"):
        assert request(other, SourceAccount=_ACCOUNT) is None
