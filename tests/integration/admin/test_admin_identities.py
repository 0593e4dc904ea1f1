"""`pillarbox identities migrate`, and what the command does with a stack of an older release."""

import json
from typing import Any, Final

import pytest

from admin.wiring import OperatorWiring
from pillarbox.adapters.dynamodb import keys, records
from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.accounts.api_keys import DynamoApiKeys
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.accounts.key import Preset, digest_of_key
from pillarbox.domain.errors import ServiceError
from pillarbox.settings import Settings
from pillarbox.wiring import Wiring
from tests.fakes.builders import ACCOUNT, NOW, account, api_key, key_text
from tests.integration.admin.aws_stubs import Stubs, stubs
from tests.integration.admin.conftest import CREDENTIALS, SETTINGS, TABLE
from tests.integration.admin.documented_output import documented, readable
from tests.integration.admin.operator_command import Operator

__all__ = ["stubs"]

STACK: Final = "arn:aws:cloudformation:eu-west-1:123456789012:stack/pillarbox/1"
NAMED: Final = {"Variables": {"PILLARBOX_CREDENTIALS_TABLE": CREDENTIALS}}


@pytest.mark.usefixtures("mailbox")
def test_keys_of_an_older_release_move(
    table: Table, identities: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command moves the keys and waits; the output is the one of docs/operations.md."""
    waits: list[float] = []
    monkeypatch.setattr("admin.wiring.sleep", waits.append)
    DynamoAccounts(table, keys_moved=False).add(account())
    text = key_text()
    DynamoApiKeys(table, table).add(api_key(text))
    authentication = Wiring(SETTINGS).authentication
    assert authentication.authenticate(text).account == account()
    run = Operator()
    second = api_key(key_text(), key_id="key_revoked", revoked_at=NOW)
    DynamoApiKeys(table, table).add(second)
    result = run.plain("--local", "identities", "migrate")
    assert (result.exit_code, readable(result.output)) == (0, documented("identities migrate"))
    assert run("identities", "migrate") == {"movedKeys": 0, "markedAccounts": 0}
    assert waits == [120.0]
    assert authentication.authenticate(text).account == account()
    key = keys.api_key(digest_of_key(text))
    assert (table.get(key), bool(identities.get(key))) == (None, True)
    assert (table.get(keys.account(ACCOUNT)) or {})[records.KEYS_MOVED] is True


def prepare(stubs: Stubs, status: str, live: Any, latest: Any = NAMED) -> None:
    """Prepare a stack with one function, and the settings of its newest and its live version."""
    outputs = {"TableName": TABLE, "CredentialsTableName": CREDENTIALS}
    stack = {
        "StackId": STACK,
        "StackName": "pillarbox",
        "StackStatus": status,
        "CreationTime": "2026-11-22T00:00:00Z",
        "Parameters": [{"ParameterKey": "DeliveryConcurrency", "ParameterValue": "10"}],
        "Outputs": [{"OutputKey": name, "OutputValue": text} for name, text in outputs.items()],
    }
    for _ in range(2):
        stubs.answer("cloudformation", "describe_stacks", {"Stacks": [stack]})
    if live is None:
        return
    template = {
        "Resources": {
            "Live": {
                "Type": "AWS::Lambda::Alias",
                "Properties": {"FunctionName": {"Ref": "SendEmail"}, "FunctionVersion": "7"},
            }
        }
    }
    stubs.answer("cloudformation", "get_template", {"TemplateBody": json.dumps(template)})
    summary = {
        "LogicalResourceId": "SendEmail",
        "PhysicalResourceId": "dev-SendEmail-1",
        "ResourceType": "AWS::Lambda::Function",
        "LastUpdatedTimestamp": "2026-11-22T00:00:00Z",
        "ResourceStatus": "CREATE_COMPLETE",
    }
    listed = {"StackResourceSummaries": [summary]}
    stubs.answer("cloudformation", "list_stack_resources", listed)
    arn = "arn:aws:lambda:eu-west-1:123456789012:function:dev-SendEmail-1"
    stubs.answer("lambda", "get_alias", {"AliasArn": f"{arn}:live", "FunctionVersion": "6"})
    stubs.answer("lambda", "list_tags", {"Tags": {}})
    for version, environment in (("$LATEST", latest), ("6", live)):
        stubs.answer(
            "lambda",
            "get_function_configuration",
            {"Environment": environment},
            {"FunctionName": "dev-SendEmail-1", "Qualifier": version},
        )


@pytest.mark.parametrize(
    ("status", "live", "reason"),
    [
        ("UPDATE_IN_PROGRESS", None, "The stack pillarbox changes now"),
        ("UPDATE_COMPLETE", {"Variables": {}}, "SendEmail: an older version runs"),
    ],
)
def test_nothing_moves_while_an_older_release_runs(
    stubs: Stubs, status: str, live: Any, reason: str
) -> None:
    """During a deployment and after a rollback the command refuses, and calls no table."""
    prepare(stubs, status, live)
    result = Operator().plain("identities", "migrate")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(reason)


def test_a_stack_without_the_table_is_deployed_first(stubs: Stubs) -> None:
    """A stack of an older release has no output with the table, so its keys stay."""
    stack = {
        "StackId": STACK,
        "StackName": "pillarbox",
        "StackStatus": "UPDATE_COMPLETE",
        "CreationTime": "2026-11-22T00:00:00Z",
        "Outputs": [{"OutputKey": "TableName", "OutputValue": TABLE}],
    }
    stubs.answer("cloudformation", "describe_stacks", {"Stacks": [stack]})
    result = Operator().plain("identities", "migrate")
    assert result.exit_code == 1
    assert result.stderr.startswith("The stack has no table Credentials yet.")


def test_a_stack_of_an_older_release_keeps_its_keys_in_one_table(table: Table) -> None:
    """With one table the command creates keys that an older release finds, and marks no account."""
    one = Settings({"PILLARBOX_TABLE": table.name, "PILLARBOX_CREDENTIALS_TABLE": table.name})
    wiring = OperatorWiring(one)
    made = wiring.accounts.create("Shop", Plan.STANDARD)
    text = wiring.api_keys.issue_live(made.account_id, "web", Preset.SEND).text
    assert records.KEYS_MOVED not in (table.get(keys.account(made.account_id)) or {})
    assert table.get(keys.api_key(digest_of_key(text))) is not None
    (listed,) = wiring.api_keys.of_account(made.account_id)
    # After a deployment the functions find it where it is.
    assert Wiring(SETTINGS).authentication.authenticate(text).account == made
    wiring.api_keys.revoke(listed.key_id)
    with pytest.raises(ServiceError):
        Wiring(SETTINGS).authentication.authenticate(text)
