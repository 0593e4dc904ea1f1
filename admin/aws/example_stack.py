"""A stack that exists only on paper: its answers let a dry run go on without AWS."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from admin.aws.recording import ExampleError, Parameters
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import Item, to_item
from pillarbox.domain.accounts.key import ACCOUNT_ID_LENGTH

NAME: Final = "pillarbox-example"
#: The variables with which the SDK makes clients; no call is signed or leaves this machine.
SDK_VARIABLES: Final = {
    "AWS_ACCESS_KEY_ID": "example",
    "AWS_SECRET_ACCESS_KEY": "example",
    "AWS_DEFAULT_REGION": "us-east-1",
}
_ARN: Final = "arn:aws:{service}:us-east-1:123456789012:{name}"
_STACK: Final = _ARN.format(service="cloudformation", name=f"stack/{NAME}/1")
_TABLE: Final = f"{NAME}-Table"
_CREDENTIALS: Final = f"{NAME}-Credentials"
_ACCOUNT: Final = "example".ljust(ACCOUNT_ID_LENGTH, "0")
#: What the copies of the tables have and the tables lack.
_ROWS: Final[tuple[Item, ...]] = (
    keys.account(_ACCOUNT) | to_item({"name": "Example"}),
    keys.account_list(_ACCOUNT),
    keys.suppression(_ACCOUNT, "ann@example.com"),
    keys.quota(_ACCOUNT),
)
_CREDENTIAL_ROWS: Final[tuple[Item, ...]] = (
    keys.api_key("0") | to_item({"account": _ACCOUNT}),
    keys.key_list(_ACCOUNT, "key_example"),
    keys.webhook_endpoint(_ACCOUNT, "0190f000-0000-7000-8000-000000000000"),
)


def answer(operation: str, parameters: Parameters) -> Parameters:
    """Answer a call that reads, as AWS would."""
    answers: dict[str, Any] = {
        "BatchGetItem": lambda: {"Responses": {}},
        "DescribeContinuousBackups": _backups,
        "DescribeSecret": _absent,
        "DescribeStacks": lambda: _stacks(parameters.get("StackName", NAME)),
        "DescribeTable": lambda: _table(parameters["TableName"]),
        "DescribeTimeToLive": lambda: {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}},
        "GetItem": lambda: _item(parameters["TableName"], parameters["Key"]),
        "GetSecretValue": _absent,
        "ListStackResources": _resources,
        "ListSubscriptionsByTopic": lambda: {"Subscriptions": []},
        "Query": lambda: {"Items": [], "Count": 0},
        "Scan": lambda: _scan(parameters["TableName"]),
    }
    found: Parameters = answers[operation]()
    return found


def _absent() -> Parameters:
    raise ExampleError("ResourceNotFoundException")


def _stacks(name: str) -> Parameters:
    if name not in {NAME, _STACK}:
        raise ExampleError("ValidationError")
    outputs = {"TableName": _TABLE, "CredentialsTableName": _CREDENTIALS}
    stack = {
        "StackId": _STACK,
        "StackName": NAME,
        "StackStatus": "UPDATE_COMPLETE",
        "Parameters": [{"ParameterKey": "LogRetention", "ParameterValue": "30"}],
        "Outputs": [{"OutputKey": key, "OutputValue": text} for key, text in outputs.items()],
    }
    return {"Stacks": [stack]}


def _resources() -> Parameters:
    topic = {
        "LogicalResourceId": "AlarmTopic",
        "PhysicalResourceId": _ARN.format(service="sns", name=f"{NAME}-AlarmTopic"),
        "ResourceType": "AWS::SNS::Topic",
    }
    return {"StackResourceSummaries": [topic]}


def _backups() -> Parameters:
    now = datetime.now(UTC)
    window = {
        "PointInTimeRecoveryStatus": "ENABLED",
        "EarliestRestorableDateTime": now - timedelta(days=35),
        "LatestRestorableDateTime": now,
    }
    return {"ContinuousBackupsDescription": {"PointInTimeRecoveryDescription": window}}


def _table(name: str) -> Parameters:
    if "-at-" in name:  # a copy that does not exist yet
        raise ExampleError("ResourceNotFoundException")
    schema = [("pk", "HASH"), ("sk", "RANGE")]
    table = {
        "TableStatus": "ACTIVE",
        "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
        "AttributeDefinitions": [
            {"AttributeName": each, "AttributeType": "S"} for each, _ in schema
        ],
        "KeySchema": [{"AttributeName": each, "KeyType": kind} for each, kind in schema],
    }
    return {"Table": table}


def _scan(name: str) -> Parameters:
    return {"Items": [*_rows(name)]}


def _item(name: str, key: Item) -> Parameters:
    found = [item for item in _rows(name) if key.items() <= item.items()] if "-at-" in name else []
    return {"Item": found[0]} if found else {}


def _rows(name: str) -> tuple[Item, ...]:
    return _CREDENTIAL_ROWS if name.startswith(_CREDENTIALS) else _ROWS
