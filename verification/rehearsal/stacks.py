"""Package a template and deploy it as `pillarbox deploy` does: change set, execution, events."""

import json
import os
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import boto3
import yaml
from botocore.config import Config
from botocore.exceptions import ClientError

from verification.dynamodb_local.server import ROOT
from verification.rehearsal.engine import STAND_IN

type Template = dict[str, Any]

_SAM: Final = ROOT / ".venv-sam" / "bin" / "sam"
_BUCKET: Final = "rehearsal"
#: Seconds. A stack takes half a minute; on a busy machine several.
_PATIENCE: Final = 900.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one step.

    Attributes:
        status: of the stack, or of the change set if it was refused.
        reason: what the engine says about it.
        changes: how many resources the change set names.
        problems: each resource that failed, with the reason.
    """

    status: str
    reason: str = ""
    changes: int = 0
    problems: list[str] = field(default_factory=list)


class Cloud:
    """CloudFormation and S3 of one engine, in one region."""

    def __init__(self, url: str, region: str) -> None:
        """Use an engine that runs, and create the bucket for templates there."""
        self._url = url
        self._environment = {
            "AWS_ACCESS_KEY_ID": "rehearsal",
            "AWS_SECRET_ACCESS_KEY": "rehearsal",
            "AWS_DEFAULT_REGION": region,
            "AWS_ENDPOINT_URL": url,
        }
        # One try: an error of the engine is a result, and it does not pass.
        config = Config(
            retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}, read_timeout=600
        )
        session: Any = boto3.Session("rehearsal", "rehearsal", region_name=region)
        self._formation: Any = session.client("cloudformation", endpoint_url=url, config=config)
        self._s3: Any = session.client("s3", endpoint_url=url, config=config)
        elsewhere = {"CreateBucketConfiguration": {"LocationConstraint": region}}
        self._bucket = f"{_BUCKET}-{region}"
        self._s3.create_bucket(Bucket=self._bucket, **({} if region == "us-east-1" else elsewhere))

    def package(self, folder: Path) -> Template:
        """Upload code, nested templates and included files; return the template that names them.

        Raises:
            subprocess.CalledProcessError: `sam package` failed; its output has the reason.
        """
        with tempfile.TemporaryDirectory() as name:
            packaged = Path(name) / "packaged.yaml"
            subprocess.run(
                [
                    *(_SAM, "package", "--s3-bucket", self._bucket),
                    *("--template-file", folder / "template.yaml"),
                    *("--output-template-file", packaged),
                ],
                cwd=name,
                env=os.environ | self._environment | {"SAM_CLI_TELEMETRY": "0", "HOME": name},
                check=True,
                capture_output=True,
                text=True,
            )
            template: Template = yaml.safe_load(packaged.read_text())
            return template

    def deploy(self, name: str, template: Template, parameters: Mapping[str, str]) -> Outcome:
        """Create a stack or update it, with those of the parameters that the template declares."""
        text, declared = json.dumps(template), template["Parameters"]
        # LocalStack finds the default 0 unequal to the text "0", and CloudFormation has texts only.
        given = {key: str(each["Default"]) for key, each in declared.items() if "Default" in each}
        given |= {key: value for key, value in parameters.items() if key in declared}
        self._s3.put_object(Bucket=self._bucket, Key=f"{name}.json", Body=text.encode())
        try:
            change_set = self._formation.create_change_set(
                StackName=name,
                ChangeSetName=f"rehearsal-{time.time_ns()}",
                ChangeSetType="UPDATE" if self._exists(name) else "CREATE",
                TemplateURL=f"{self._url}/{self._bucket}/{name}.json",
                Parameters=[
                    {"ParameterKey": key, "ParameterValue": value} for key, value in given.items()
                ],
                Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
            )["Id"]
            described = self._wait_for_change_set(change_set)
            changes = len(described["Changes"])
            if described["Status"] == "FAILED":
                return Outcome("change set FAILED", described.get("StatusReason", ""), changes)
            before = self._events(name)
            self._formation.execute_change_set(ChangeSetName=change_set)
        except ClientError as error:
            return Outcome("change set refused", str(error))
        return self._end(name, changes, before)

    def delete(self, name: str) -> Outcome:
        """Delete a stack."""
        stack = self._formation.describe_stacks(StackName=name)["Stacks"][0]["StackId"]
        before = self._events(stack)
        self._formation.delete_stack(StackName=name)
        return self._end(stack, 0, before)

    def _nested(self, stack: str) -> list[str]:
        """Return the ids of the stacks within a stack."""
        pages = self._formation.get_paginator("list_stack_resources").paginate(StackName=stack)
        return [
            each["PhysicalResourceId"]
            for page in pages
            for each in page["StackResourceSummaries"]
            if each["ResourceType"] == "AWS::CloudFormation::Stack"
        ]

    def resources(self, name: str) -> list[dict[str, Any]]:
        """Return the resources of a stack and of its nested stacks."""
        found: list[dict[str, Any]] = []
        pages = self._formation.get_paginator("list_stack_resources").paginate(StackName=name)
        for page in pages:
            found += page["StackResourceSummaries"]
        nested = [each for each in found if each["ResourceType"] == "AWS::CloudFormation::Stack"]
        for stack in nested:
            if not stack["ResourceStatus"].startswith("DELETE"):
                found += self.resources(stack["PhysicalResourceId"])
        return found

    def stand_ins(self, name: str) -> Counter[str]:
        """Return how many resources of each type are stand-ins."""
        return Counter(
            resource["ResourceType"]
            for resource in self.resources(name)
            if STAND_IN in resource.get("PhysicalResourceId", "")
        )

    def _exists(self, name: str) -> bool:
        try:
            stacks = self._formation.describe_stacks(StackName=name)["Stacks"]
        except ClientError:
            return False
        return bool(stacks[0]["StackStatus"] != "DELETE_COMPLETE")

    def _wait_for_change_set(self, change_set: str) -> dict[str, Any]:
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            described: dict[str, Any] = self._formation.describe_change_set(
                ChangeSetName=change_set
            )
            if described["Status"] in {"CREATE_COMPLETE", "FAILED"}:
                return described
            time.sleep(0.5)
        return described | {"Status": "FAILED", "StatusReason": f"no end in {_PATIENCE:.0f} s"}

    def _end(self, stack: str, changes: int, before: list[str]) -> Outcome:
        """Wait until nothing is in progress; return what the stack has become."""
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            described = self._formation.describe_stacks(StackName=stack)["Stacks"][0]
            if not described["StackStatus"].endswith("IN_PROGRESS"):
                break
            time.sleep(1)
        problems = [event for event in self._events(stack)[len(before) :] if "_FAILED: " in event]
        status = described["StackStatus"]
        # LocalStack does not look at how the creation of a nested stack ended.
        for nested in self._nested(stack):
            if failed := [event for event in self._events(nested) if "_FAILED: " in event]:
                problems += failed
                status = f"{status}, but {nested} failed"
        return Outcome(status, described.get("StackStatusReason", ""), changes, problems)

    def _events(self, stack: str) -> list[str]:
        """Return the stack's events, the oldest first: resource, status and reason."""
        pages = self._formation.get_paginator("describe_stack_events").paginate(StackName=stack)
        events = [event for page in pages for event in page["StackEvents"]]
        return [
            f"{event['LogicalResourceId']} {event['ResourceStatus']}:"
            f" {event.get('ResourceStatusReason', '')}"
            for event in reversed(events)
        ]
