"""`pillarbox rollback`, with prepared answers of AWS."""

import json
from typing import Any, Final

import pytest

from admin import old_versions
from tests.integration.admin.aws_stubs import WHEN, Stubs, stack_id, stubs
from tests.integration.admin.documented_output import documented, readable
from tests.integration.admin.operator_command import Operator, failure
from tests.loops import for_each

__all__ = ["stubs"]

STACK: Final = stack_id("pillarbox-dev")
FUNCTION: Final = "arn:aws:lambda:eu-west-1:123456789012:function"
URL: Final = "https://s3.eu-west-1.amazonaws.com/bucket/pillarbox-dev/1a.template"


def template(**versions: str | None) -> dict[str, Any]:
    """Return a processed template: a version that is None is the one of the last deployment."""
    resources: dict[str, Any] = {
        "Alarms": {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": URL}}
    }
    for name, version in versions.items():
        resources[name] = {"Type": "AWS::Lambda::Function", "Properties": {}}
        resources[f"{name}Version"] = {"Type": "AWS::Lambda::Version", "Properties": {}}
        resources[f"{name}Aliaslive"] = {
            "Type": "AWS::Lambda::Alias",
            "Properties": {
                "FunctionName": {"Ref": name},
                "FunctionVersion": version or {"Fn::GetAtt": [f"{name}Version", "Version"]},
                "Name": "live",
            },
        } | ({} if version else {"UpdatePolicy": {"CodeDeployLambdaAliasUpdate": {}}})
    return {"Resources": resources}


class Deployment:
    """A stack with the functions SendEmail at version 7 and SendBatch at version 4."""

    def __init__(self, stubs: Stubs) -> None:
        self.stubs = stubs

    def status(self, status: str) -> None:
        parameters = [{"ParameterKey": "LogLevel", "ParameterValue": "INFO"}]
        self.stubs.stack("pillarbox-dev", status, Parameters=parameters)

    def read(
        self,
        email: str | None = None,
        batch: str | None = None,
        live: tuple[str, str] = ("7", "4"),
        shared: Any = None,
        tags: dict[str, str] | None = None,
    ) -> None:
        """Prepare what the command reads: the template, the resources and the aliases."""
        body = json.dumps(template(SendEmail=email, SendBatch=batch))
        self.stubs.answer(
            "cloudformation",
            "get_template",
            {"TemplateBody": body},
            {"StackName": STACK, "TemplateStage": "Processed"},
        )
        ids = {
            "SendEmail": "dev-SendEmail-1",
            "SendBatch": "dev-SendBatch-1",
            "SendEmailVersion": f"{FUNCTION}:dev-SendEmail-1:7",
            "SendBatchVersion": f"{FUNCTION}:dev-SendBatch-1:4",
        }
        self.stubs.resources(ids, functions=ids)
        for name, version in zip(("SendBatch", "SendEmail"), reversed(live), strict=True):
            function = f"dev-{name}-1"
            weights = {"RoutingConfig": {"AdditionalVersionWeights": shared}} if shared else {}
            self.stubs.answer(
                "lambda",
                "get_alias",
                {"AliasArn": f"{FUNCTION}:{function}:live", "FunctionVersion": version} | weights,
                {"FunctionName": function, "Name": "live"},
            )
            self.stubs.answer(
                "lambda",
                "list_tags",
                {"Tags": tags or {}},
                {"Resource": f"{FUNCTION}:{function}"},
            )

    def events(self, *pairs: tuple[str, str]) -> None:
        """Prepare the stack's events, the newest first: status, and a version or nothing."""
        events = [
            {
                "StackId": STACK,
                "EventId": str(number),
                "StackName": "pillarbox-dev",
                "ResourceType": (
                    "AWS::Lambda::Version" if version else "AWS::CloudFormation::Stack"
                ),
                "PhysicalResourceId": f"{FUNCTION}:{version}" if version else STACK,
                "ResourceStatus": status,
                "Timestamp": WHEN,
            }
            for number, (status, version) in enumerate(pairs)
        ]
        self.stubs.answer("cloudformation", "describe_stack_events", {"StackEvents": events})

    def both_deployed(self, *, exist: bool = True) -> None:
        self.events(
            ("UPDATE_COMPLETE", ""),
            ("DELETE_SKIPPED", "dev-SendEmail-1:6"),
            ("DELETE_SKIPPED", "dev-SendBatch-1:2"),
            ("CREATE_COMPLETE", "dev-SendEmail-1:7"),
            ("CREATE_COMPLETE", "dev-SendBatch-1:4"),
            ("UPDATE_IN_PROGRESS", ""),
        )
        for name, version in (("SendBatch", "2"), ("SendEmail", "6")):
            if exist or name == "SendBatch":
                expected = {"FunctionName": f"dev-{name}-1", "Qualifier": version}
                self.stubs.answer("lambda", "get_function_configuration", {}, expected)
            else:
                self.stubs.refuse(
                    "lambda", "get_function_configuration", "ResourceNotFoundException"
                )

    def moves(self, name: str, version: str) -> None:
        self.stubs.answer(
            "lambda",
            "update_alias",
            {},
            {
                "FunctionName": f"dev-{name}-1",
                "Name": "live",
                "FunctionVersion": version,
                "RoutingConfig": {"AdditionalVersionWeights": {}},
            },
        )

    def remembers(self, name: str, text: str) -> None:
        tags = {"pillarbox:rolled-back": text}
        self.stubs.answer(
            "lambda",
            "tag_resource",
            {},
            {"Resource": f"{FUNCTION}:dev-{name}-1", "Tags": tags},
        )

    def learns_versions(self, batch: str = "4:2", email: str = "7:6") -> None:
        """Prepare the tags of both functions, and the update of the stack."""
        self.remembers("SendBatch", batch)
        self.remembers("SendEmail", email)
        self.stubs.answer("s3", "put_object", {})
        self.stubs.answer("cloudformation", "update_stack", {"StackId": STACK})


@pytest.fixture
def deployment(stubs: Stubs) -> Deployment:
    return Deployment(stubs)


def rollback(*words: str, typed: str = "y\n") -> Any:
    return Operator().plain("--stack-name", "pillarbox-dev", *words, typed=typed)


def test_every_function_goes_back_at_once_and_cloudformation_is_told(
    deployment: Deployment,
) -> None:
    """The aliases move first; the output is the one of docs/operations.md."""
    deployment.status("UPDATE_COMPLETE")
    deployment.read()
    deployment.both_deployed()
    deployment.moves("SendBatch", "2")
    deployment.moves("SendEmail", "6")
    deployment.learns_versions()
    deployment.status("UPDATE_IN_PROGRESS")
    deployment.status("UPDATE_COMPLETE")
    result = rollback("rollback")
    assert (result.exit_code, readable(result.output)) == (0, documented("rollback"))


def test_cloudformation_gets_the_template_with_the_versions(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stored template differs in the aliases alone: fixed versions, and no CodeDeploy."""
    stored: dict[str, Any] = {}
    client = deployment.stubs.client("s3")
    put = client.put_object
    monkeypatch.setattr(client, "put_object", lambda **call: stored.update(call) or put(**call))
    deployment.status("UPDATE_COMPLETE")
    deployment.read(live=("6", "2"))
    deployment.both_deployed()
    deployment.learns_versions()
    deployment.status("UPDATE_COMPLETE")
    assert rollback("--json", "rollback", "--yes").exit_code == 0
    assert (stored["Bucket"], stored["Key"][:23]) == ("bucket", "pillarbox-dev/rollback-")
    expected = template(SendEmail="6", SendBatch="2")
    assert json.loads(stored["Body"]) == expected


def test_a_run_after_an_interruption_goes_on(deployment: Deployment) -> None:
    """An alias that was moved already is not moved again. An end of a deployment is waited for."""
    deployment.status("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
    deployment.status("UPDATE_COMPLETE")
    deployment.read(live=("6", "4"))
    deployment.both_deployed()
    deployment.moves("SendBatch", "2")
    deployment.learns_versions()
    deployment.status("UPDATE_COMPLETE")
    result = rollback("--json", "rollback", "--yes")
    assert result.exit_code == 0
    assert [item["goesTo"] for item in json.loads(result.stdout)["items"]] == [2, 6]


def test_a_second_run_changes_nothing(deployment: Deployment) -> None:
    """CloudFormation knows the versions, so the command does not go back any further."""
    deployment.status("UPDATE_COMPLETE")
    deployment.read(email="6", batch="2", live=("6", "2"))
    result = rollback("rollback")
    assert result.exit_code == 0
    assert "rolled back already" in result.stderr


def test_a_deployment_that_runs_is_cancelled(deployment: Deployment) -> None:
    """CloudFormation moves the functions back itself; a second run has nothing to cancel."""
    deployment.status("UPDATE_IN_PROGRESS")
    deployment.stubs.answer("cloudformation", "cancel_update_stack", {}, {"StackName": STACK})
    result = rollback("rollback")
    assert result.exit_code == 0
    assert "CloudFormation moves the functions back" in result.stderr
    for status in ("UPDATE_ROLLBACK_IN_PROGRESS", "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS"):
        deployment.status(status)
        result = rollback("--json", "rollback", "--yes")
        assert result.exit_code == 0
        assert json.loads(result.stdout)["cancelled"] is False


@for_each("status", ["UPDATE_ROLLBACK_FAILED", "UPDATE_FAILED"])
def test_a_stack_that_accepts_no_update_is_left_alone(deployment: Deployment, status: str) -> None:
    """The functions would go back one deployment too far, and CloudFormation would not know."""
    deployment.status(status)
    message = failure(rollback("rollback", "--yes"))
    assert message.startswith(f"The stack pillarbox-dev is in {status}. The last deployment failed")
    assert "in CloudFormation's console" in message
    assert message.endswith("Nothing was moved.\n")


def test_nothing_is_moved_without_a_yes(deployment: Deployment) -> None:
    """No is the default answer, and JSON needs --yes."""
    for words in (["rollback"], ["--json", "rollback"]):
        deployment.status("UPDATE_COMPLETE")
        deployment.read()
        deployment.both_deployed()
        assert rollback(*words, typed="\n").exit_code != 0


def test_a_deployment_that_was_taken_back_is_named(deployment: Deployment) -> None:
    """The command warns that it would go back one deployment too far; no is the default answer."""
    deployment.status("UPDATE_ROLLBACK_COMPLETE")
    deployment.read()
    deployment.both_deployed()
    result = rollback("rollback", typed="\n")
    assert "CloudFormation has undone the last update itself." in failure(result)


def test_yes_does_not_go_further_than_cloudformation_did(deployment: Deployment) -> None:
    """CloudFormation has undone the deployment already, so with --yes no function moves."""
    for words in (["rollback", "--yes"], ["--json", "rollback", "--yes"]):
        deployment.status("UPDATE_ROLLBACK_COMPLETE")
        deployment.read()
        deployment.events(
            ("DELETE_SKIPPED", "dev-SendEmail-1:8"),
            ("UPDATE_ROLLBACK_COMPLETE", ""),
            ("CREATE_COMPLETE", "dev-SendEmail-1:8"),
            ("UPDATE_IN_PROGRESS", ""),
            ("DELETE_SKIPPED", "dev-SendEmail-1:6"),
            ("CREATE_COMPLETE", "dev-SendEmail-1:7"),
            ("UPDATE_IN_PROGRESS", ""),
        )
        result = rollback(*words)
        assert result.exit_code == 0
        if "--json" in words:
            assert json.loads(result.stdout) == {"items": []}
        else:
            assert "undone the last update itself. Nothing was moved." in result.stderr


def test_yes_repeats_a_rollback_whose_update_failed(deployment: Deployment) -> None:
    """CloudFormation undid the command's own update, so the next run moves the functions again."""
    deployment.status("UPDATE_ROLLBACK_COMPLETE")
    deployment.read(tags={"pillarbox:rolled-back": "4:2 7:6"})
    deployment.both_deployed()
    deployment.moves("SendBatch", "2")
    deployment.moves("SendEmail", "6")
    deployment.learns_versions("4:2 7:6", "4:2 7:6")
    deployment.status("UPDATE_COMPLETE")
    result = rollback("--json", "rollback", "--yes")
    assert result.exit_code == 0
    assert [item["goesTo"] for item in json.loads(result.stdout)["items"]] == [2, 6]


def prepare_versions(stubs: Stubs, **versions: list[int]) -> None:
    """Prepare the aliases and versions of functions as `deploy` reads them to delete old ones."""
    names = {name: f"dev-{name}-1" for name in versions}
    stubs.resources(names, functions=names)
    for name, numbers in versions.items():
        stubs.answer("lambda", "get_alias", {"FunctionVersion": str(numbers[-1])})
        listed = [{"Version": str(number)} for number in numbers]
        stubs.answer("lambda", "list_versions_by_function", {"Versions": listed})
        expected = {"FunctionName": names[name], "Qualifier": str(numbers[0])}
        stubs.answer("lambda", "delete_function", {}, expected)


def test_failed_deployments_leave_the_version_to_go_back_to(deployment: Deployment) -> None:
    """SendEmail's versions 5 and 6 are of updates that failed, so `deploy` keeps version 4 too."""
    deployment.status("UPDATE_COMPLETE")
    deployment.read()
    deployment.events(
        ("DELETE_SKIPPED", "dev-SendEmail-1:4"),
        ("CREATE_COMPLETE", "dev-SendEmail-1:7"),
        ("UPDATE_IN_PROGRESS", ""),
    )
    prepare_versions(deployment.stubs, SendEmail=[3, 4, 5, 6, 7], SendBatch=[1, 2, 3, 4])
    old_versions.remove("pillarbox-dev")


def test_a_version_that_is_deployed_again_is_good(deployment: Deployment) -> None:
    """SendEmail's version 7 was rolled back and deployed again: the next rollback may use it."""
    deployment.status("UPDATE_COMPLETE")
    deployment.read(tags={"pillarbox:rolled-back": "5:3 7:6"})
    deployment.remembers("SendEmail", "5:3")
    deployment.events(
        ("UPDATE_IN_PROGRESS", ""),
        ("DELETE_SKIPPED", "dev-SendEmail-1:6"),
        ("CREATE_COMPLETE", "dev-SendEmail-1:7"),
        ("UPDATE_IN_PROGRESS", ""),
    )
    deployment.stubs.resources({})
    old_versions.remove("pillarbox-dev")


def test_without_a_version_to_go_to_nothing_is_moved(deployment: Deployment) -> None:
    """A deleted version is found before the first function moves."""
    deployment.status("UPDATE_COMPLETE")
    deployment.read()
    deployment.both_deployed(exist=False)
    result = rollback("rollback", "--yes")
    assert failure(result).startswith("Version 6 of SendEmail was deleted. Nothing was moved.")


def test_an_update_that_fails_is_an_error(deployment: Deployment) -> None:
    """The error says that CloudFormation may have moved the functions forward again."""
    deployment.status("UPDATE_COMPLETE")
    deployment.read(live=("6", "2"))
    deployment.both_deployed()
    deployment.learns_versions()
    deployment.status("UPDATE_ROLLBACK_COMPLETE")
    result = rollback("rollback", "--yes")
    assert "did not take the update: UPDATE_ROLLBACK_COMPLETE" in failure(result)


def test_a_stack_that_does_not_exist_is_one_line(deployment: Deployment) -> None:
    """The error names the option that chooses the stack."""
    deployment.stubs.no_stack("pillarbox-dev")
    assert failure(rollback("rollback")) == (
        "There is no stack pillarbox-dev in this account and region. Check --stack-name.\n"
    )
    assert Operator().plain("--local", "rollback").exit_code == 2
