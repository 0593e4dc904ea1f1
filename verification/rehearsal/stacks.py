"""Deploy a release to one engine, with the code that `pillarbox deploy` has for it."""

import json
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import boto3
from botocore.exceptions import ClientError

from admin.aws import release, stacks
from admin.use_cases.parameters import digest
from pillarbox.domain.errors import ServiceError
from verification.rehearsal.engine import STAND_IN

_NESTED: Final = "AWS::CloudFormation::Stack"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one step.

    Attributes:
        status: of the stack, or of the change set if it was refused or has no changes.
        reason: what the engine says about it.
        changes: how many resources the change set names.
    """

    status: str
    reason: str = ""
    changes: int = 0


class Cloud:
    """CloudFormation and S3 of one engine, in one region."""

    def __init__(self, url: str, region: str) -> None:
        """Let this process call an engine that runs."""
        os.environ["AWS_ENDPOINT_URL"] = url
        boto3.setup_default_session(
            aws_access_key_id="rehearsal", aws_secret_access_key="rehearsal", region_name=region
        )
        # The engine's stacks take seconds, and those of AWS minutes.
        release._POLL_SECONDS = stacks._POLL_SECONDS = 0.5  # type: ignore[misc]

    @staticmethod
    def deploy(name: str, folder: Path, parameters: Mapping[str, str]) -> Outcome:
        """Create a stack or update it, with those of the parameters that the template declares."""
        declared = json.loads((folder / "template.json").read_text())["Parameters"]
        values = {key: str(each["Default"]) for key, each in declared.items()}
        values |= {key: value for key, value in parameters.items() if key in declared}
        exists = stacks.describe(name) is not None
        try:
            address = release.upload(folder, digest(values))
            changes = release.prepare(name, address, values, {}, exists=exists)
        except (ClientError, ServiceError) as error:
            return Outcome("change set refused", str(error))
        if changes is None:
            return Outcome("no changes")
        before = stacks.newest_event_at(changes.stack_id)
        release.execute(changes)
        ended = stacks.wait(changes.stack_id, lambda _: None)
        status, cause = ended.status, stacks.first_failure(ended.stack_id, before)
        # LocalStack does not look at how the creation of a nested stack ended.
        for nested in stacks.resources(ended.stack_id, _NESTED).values():
            if failed := stacks.first_failure(nested, before):
                status, cause = f"{status}, but {nested} failed", failed
        return Outcome(status, cause or ended.reason, len(changes.lines))

    @staticmethod
    def delete(name: str) -> Outcome:
        """Delete a stack."""
        try:
            stacks.delete(stacks.require(name))
        except ServiceError as error:
            return Outcome("DELETE_FAILED", error.message)
        return Outcome(stacks.DELETED)

    def stand_ins(self, name: str) -> Counter[str]:
        """Return how many resources of each type are stand-ins, in a stack and those within it."""
        pages: Any = boto3.client("cloudformation").get_paginator("list_stack_resources")
        found = Counter[str]()
        for page in pages.paginate(StackName=name):
            for each in page["StackResourceSummaries"]:
                kind, physical_id = each["ResourceType"], each.get("PhysicalResourceId", "")
                found[kind] += STAND_IN in physical_id
                if kind == _NESTED and not each["ResourceStatus"].startswith("DELETE"):
                    found += self.stand_ins(physical_id)
        return +found
