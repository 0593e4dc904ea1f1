"""What `pillarbox deploy` asks of AWS, checked against botocore's models."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from admin.aws import deployment, stacks
from admin.use_cases.preflight import ClusterRole, RelayNeeds
from tests.integration.admin.aws_stubs import Stubs

IMAGE = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/pillarbox/relay"
FUNCTIONS = {"SweepMessages": "pillarbox-SweepMessages-1", "Table": "pillarbox-Table-1"}
NAME = {"FunctionName": "pillarbox-SweepMessages-1"}


def prepare_account(stubs: Stubs) -> None:
    identity = {"Account": "123456789012", "Arn": "arn:aws:iam::123456789012:user/ops"}
    stubs.answer("sts", "get_caller_identity", identity, {})
    stubs.answer(
        "lambda", "get_account_settings", {"AccountLimit": {"ConcurrentExecutions": 10}}, {}
    )


def test_missing_rights_for_cloudfront_are_a_finding(stubs: Stubs) -> None:
    prepare_account(stubs)
    stubs.refuse("cloudfront", "list_distributions", "AccessDenied")
    assert deployment.read_account().distributions is None
    prepare_account(stubs)
    stubs.refuse("cloudfront", "list_distributions", "InvalidArgument")
    with pytest.raises(ClientError):
        deployment.read_account()


ROLE = {"RoleName": "AWSServiceRoleForECS"}
ABSENT = "The role with name AWSServiceRoleForECS cannot be found."
TAKEN = (
    "Service role name AWSServiceRoleForECS has been taken in this account, please try a different"
    " suffix."
)


def role(path: str = "/aws-service-role/ecs.amazonaws.com/") -> dict[str, Any]:
    name = ROLE["RoleName"]
    return {
        "Role": {
            "Path": path,
            "RoleName": name,
            "RoleId": "AROA1234567890123456",
            "Arn": f"arn:aws:iam::123456789012:role{path}{name}",
            "CreateDate": "2026-11-22T00:00:00Z",
        }
    }


def test_a_fresh_account_gets_the_role_of_ecs(stubs: Stubs) -> None:
    stubs.refuse("iam", "get_role", "NoSuchEntity", ABSENT)
    expected = {"AWSServiceName": "ecs.amazonaws.com"}
    stubs.answer("iam", "create_service_linked_role", role(), expected)
    assert deployment.ensure_cluster_role() is ClusterRole.CREATED
    stubs.answer("iam", "get_role", role(), ROLE)
    assert deployment.ensure_cluster_role() is ClusterRole.EXISTS


def test_a_role_that_somebody_creates_in_between_is_enough(stubs: Stubs) -> None:
    stubs.refuse("iam", "get_role", "NoSuchEntity", ABSENT)
    stubs.refuse("iam", "create_service_linked_role", "InvalidInput", TAKEN)
    assert deployment.ensure_cluster_role() is ClusterRole.CREATED


def test_missing_rights_for_the_role_are_a_finding(stubs: Stubs) -> None:
    stubs.refuse("iam", "get_role", "AccessDenied")
    assert deployment.ensure_cluster_role() is ClusterRole.UNKNOWN
    stubs.refuse("iam", "get_role", "NoSuchEntity", ABSENT)
    stubs.refuse("iam", "create_service_linked_role", "AccessDenied")
    assert deployment.ensure_cluster_role() is ClusterRole.MISSING
    stubs.refuse("iam", "get_role", "ServiceFailure")
    with pytest.raises(ClientError):
        deployment.ensure_cluster_role()
    stubs.refuse("iam", "get_role", "NoSuchEntity", ABSENT)
    stubs.refuse("iam", "create_service_linked_role", "LimitExceeded")
    with pytest.raises(ClientError):
        deployment.ensure_cluster_role()


PLACE = {"registryId": "123456789012", "repositoryName": "pillarbox/relay"}
SECRET = {"SecretString": json.dumps({"certificate": "a", "key": "b"})}


def manifest(content: Any) -> Any:
    """Return an answer of ECR with the manifest of one image."""
    return {"images": [{"imageManifest": json.dumps(content)}], "failures": []}


@pytest.mark.parametrize(
    ("suffix", "image_id"),
    [
        (":1.0", {"imageTag": "1.0"}),
        (f"@sha256:{'a' * 64}", {"imageDigest": f"sha256:{'a' * 64}"}),
    ],
)
def test_the_relays_image_is_looked_up(stubs: Stubs, suffix: str, image_id: dict[str, str]) -> None:
    platforms = [{"os": "linux", "architecture": "arm64"}, {"os": "unknown", "architecture": "x"}]
    stubs.answer(
        "ecr",
        "batch_get_image",
        manifest({"manifests": [{"platform": platform} for platform in platforms]}),
        PLACE | {"imageIds": [image_id], "acceptedMediaTypes": list(deployment._MANIFESTS)},
    )
    stubs.answer("secretsmanager", "get_secret_value", SECRET, {"SecretId": "smtp"})
    assert deployment.read_relay_needs(f"{IMAGE}{suffix}", "smtp") == RelayNeeds(
        image=True,
        architectures=frozenset({"arm64"}),
        certificate={"certificate": "a", "key": "b"},
    )


def test_the_architecture_of_a_single_image_is_in_its_configuration(
    stubs: Stubs, tmp_path: Path
) -> None:
    digest = f"sha256:{'b' * 64}"
    configuration = tmp_path / "configuration.json"
    configuration.write_text('{"architecture": "amd64", "os": "linux"}')
    stubs.answer("ecr", "batch_get_image", manifest({"config": {"digest": digest}}))
    stubs.answer(
        "ecr",
        "get_download_url_for_layer",
        {"downloadUrl": configuration.as_uri(), "layerDigest": digest},
        PLACE | {"layerDigest": digest},
    )
    stubs.answer("secretsmanager", "get_secret_value", SECRET)
    needs = deployment.read_relay_needs(f"{IMAGE}:1", "smtp")
    assert (needs.image, needs.architectures) == (True, frozenset({"amd64"}))


def test_a_missing_image_or_secret_is_a_finding(stubs: Stubs) -> None:
    missing = RelayNeeds(image=False)
    stubs.answer("ecr", "batch_get_image", {"images": [], "failures": [{}]})
    stubs.refuse("secretsmanager", "get_secret_value", "ResourceNotFoundException")
    assert deployment.read_relay_needs(f"{IMAGE}:1", "smtp") == missing
    stubs.refuse("ecr", "batch_get_image", "RepositoryNotFoundException")
    stubs.refuse("secretsmanager", "get_secret_value", "AccessDeniedException")
    assert deployment.read_relay_needs(f"{IMAGE}:1", "smtp") == missing
    stubs.refuse("ecr", "batch_get_image", "AccessDeniedException")
    with pytest.raises(ClientError):
        deployment.read_relay_needs(f"{IMAGE}:1", "smtp")


@pytest.mark.parametrize("content", ["-----BEGIN CERTIFICATE-----", "[]", ""])
def test_a_secret_of_another_form_has_no_fields(stubs: Stubs, content: str) -> None:
    answer = {"SecretString": content} if content else {"SecretBinary": b"x"}
    stubs.answer("secretsmanager", "get_secret_value", answer)
    needs = deployment.read_relay_needs("docker.io/relay:1", "smtp")
    assert needs.certificate == {}
    assert needs.image is None  # Fargate could not pull an image outside of ECR


def test_the_prefix_list_and_the_zones_of_the_region(stubs: Stubs) -> None:
    stubs.answer(
        "ec2",
        "describe_managed_prefix_lists",
        {"PrefixLists": [{"PrefixListId": "pl-4fa04526"}]},
        {
            "Filters": [
                {
                    "Name": "prefix-list-name",
                    "Values": ["com.amazonaws.global.cloudfront.origin-facing"],
                }
            ]
        },
    )
    assert deployment.look_up_prefix_list() == "pl-4fa04526"
    stubs.answer(
        "ec2",
        "describe_availability_zones",
        {"AvailabilityZones": [{"ZoneName": "eu-west-1a", "ZoneId": "euw1-az2"}]},
        {
            "Filters": [
                {"Name": "opt-in-status", "Values": ["opt-in-not-required"]},
                {"Name": "state", "Values": ["available"]},
            ]
        },
    )
    assert deployment.zones() == [("eu-west-1a", "euw1-az2")]


def test_the_sweep_is_started_by_its_alias(stubs: Stubs) -> None:
    stubs.resources(FUNCTIONS, "pillarbox", functions=["SweepMessages"])
    expected = NAME | {"Qualifier": "live", "InvocationType": "Event"}
    stubs.answer("lambda", "invoke", {"StatusCode": 202}, expected)
    deployment.start_sweep("pillarbox")


@pytest.mark.parametrize(
    ("versions", "live", "weights", "removed"),
    [
        ([1, 2, 3], "3", {}, []),
        ([1, 2, 3, 9, 10, 11], "11", {}, [1, 2, 3]),
        ([1, 2, 3, 4, 5], "1", {}, [2]),
        ([1, 2, 3, 4, 5], "5", {"2": 0.9}, [1]),
    ],
)
def test_old_versions_are_removed(
    stubs: Stubs, versions: list[int], live: str, weights: dict[str, float], removed: list[int]
) -> None:
    """The last three versions and those that get traffic stay; numbers do not sort as text."""
    stubs.resources(FUNCTIONS, "pillarbox", functions=["SweepMessages"])
    routing = {"RoutingConfig": {"AdditionalVersionWeights": weights}} if weights else {}
    stubs.answer(
        "lambda", "get_alias", {"FunctionVersion": live, **routing}, NAME | {"Name": "live"}
    )
    listed = [{"Version": "$LATEST"}, *({"Version": str(number)} for number in versions)]
    stubs.answer("lambda", "list_versions_by_function", {"Versions": listed}, NAME)
    for number in removed:
        stubs.answer("lambda", "delete_function", {}, NAME | {"Qualifier": str(number)})
    assert deployment.remove_old_versions("pillarbox") == len(removed)


def test_a_new_stack_is_not_described(stubs: Stubs) -> None:
    stubs.no_stack("pillarbox")
    assert stacks.describe("pillarbox") is None
    for code in ("ValidationError", "AccessDenied"):
        stubs.refuse("cloudformation", "describe_stacks", code)
        with pytest.raises(ClientError):
            stacks.describe("pillarbox")


@pytest.mark.parametrize(("state", "fires"), [("ALARM", True), ("OK", False)])
def test_the_alarm_of_a_rollout_is_read(stubs: Stubs, state: str, *, fires: bool) -> None:
    stubs.resources({"RolloutAlarm": "pillarbox-RolloutAlarm-1"}, "pillarbox")
    alarm = {"AlarmName": "pillarbox-RolloutAlarm-1", "StateValue": state}
    expected = {"AlarmNames": ["pillarbox-RolloutAlarm-1"]}
    stubs.answer("cloudwatch", "describe_alarms", {"MetricAlarms": [alarm]}, expected)
    assert deployment.rollout_alarm_fires("pillarbox") is fires
    stubs.resources(FUNCTIONS)
    assert not deployment.rollout_alarm_fires("pillarbox")


def test_only_an_update_that_was_undone_has_a_time(stubs: Stubs) -> None:
    """The time makes a retry another release; a deployment that went well needs none."""
    times = []
    for status in ("UPDATE_ROLLBACK_COMPLETE", "UPDATE_COMPLETE"):
        stubs.stack("pillarbox", status, LastUpdatedTime=datetime(2026, 11, 27, tzinfo=UTC))
        times.append(stacks.require("pillarbox").undone_update)
    assert times == ["2026-11-27 00:00:00+00:00", ""]


def test_the_error_page_is_written(stubs: Stubs) -> None:
    stubs.resources({"ErrorPages": "pillarbox-errors"})
    stubs.answer(
        "s3",
        "put_object",
        {},
        {
            "Bucket": "pillarbox-errors",
            "Key": "errors/unavailable.json",
            "Body": b"{}",
            "ContentType": "application/json",
            "CacheControl": "no-store",
        },
    )
    deployment.write_error_page("pillarbox", "{}")


def test_a_stack_without_an_edge_gets_no_error_page(stubs: Stubs) -> None:
    stubs.resources(FUNCTIONS)
    deployment.write_error_page("pillarbox", "{}")
