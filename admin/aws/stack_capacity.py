"""What a stack and its AWS account may do: scale, quotas, and what the table takes."""

import boto3

from admin.aws import stacks
from admin.aws.cloudwatch import CloudWatchMonitoring
from admin.use_cases.capacity import NEW_TABLE_WRITES, Capacity
from admin.use_cases.scale import Scale
from pillarbox.adapters.aws import operator_errors
from pillarbox.adapters.ses.account import SesAccount
from pillarbox.wiring.stores import utc_now


def read_capacity(stack_name: str) -> Capacity:
    """Read them."""
    stack = stacks.require(stack_name)
    with operator_errors("table"):
        table = boto3.client("dynamodb").describe_table(TableName=stack.outputs["TableName"])
    warm = table["Table"].get("WarmThroughput", {})
    share = int(stack.parameters["SesRateShare"])
    return Capacity(
        region=boto3.Session().region_name,
        scale=Scale(int(stack.parameters["EmailsPerSecond"])),
        max_rate=SesAccount(utc_now).sending_status().max_rate * share / 100,
        functions=CloudWatchMonitoring(stack_name).function_concurrency(),
        table_writes=warm.get("WriteUnitsPerSecond", NEW_TABLE_WRITES),
    )
