"""A table as the template describes it, in memory."""

import os
from collections.abc import Iterator

import boto3
import pytest
from moto import mock_aws

from pillarbox.adapters.dynamodb.table import Table

TABLE = "pillarbox-table"


@pytest.fixture
def table() -> Iterator[Table]:
    """The table in an AWS of this process; the environment is given back as it was."""
    before = dict(os.environ)
    for name in [name for name in os.environ if name.startswith(("AWS_", "PILLARBOX_"))]:
        del os.environ[name]
    os.environ.update(
        AWS_ACCESS_KEY_ID="test",
        AWS_SECRET_ACCESS_KEY="test",
        AWS_DEFAULT_REGION="us-east-1",
    )
    with mock_aws():
        boto3.client("dynamodb").create_table(
            TableName=TABLE,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "sk", "AttributeType": "S"},
            ],
            KeySchema=[
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
        )
        yield Table(TABLE)
    os.environ.clear()
    os.environ.update(before)
