"""A change that would lose data is refused before it is deployed."""

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any, Final

import pytest

from local import template
from tests.kept import RECORD, kept, losses

_SOURCE: Final = template.load()


def _table(resources: dict[str, Any]) -> Any:
    return resources["Table"]["Properties"]


def _renamed_key(resources: dict[str, Any]) -> None:
    _table(resources)["KeySchema"][1]["AttributeName"] = "sort"


def _named(resources: dict[str, Any]) -> None:
    _table(resources)["TableName"] = "pillarbox"


def _renamed(resources: dict[str, Any]) -> None:
    resources["MailTable"] = resources.pop("Table")


def _without_stream(resources: dict[str, Any]) -> None:
    del _table(resources)["StreamSpecification"]


def _without_recovery(resources: dict[str, Any]) -> None:
    _table(resources)["PointInTimeRecoverySpecification"] = {"PointInTimeRecoveryEnabled": False}


def _deleted_with_the_stack(resources: dict[str, Any]) -> None:
    resources["SpoolBucket"]["DeletionPolicy"] = "Delete"


def _sometimes(resources: dict[str, Any]) -> None:
    resources["JobsQueue"]["Condition"] = "WithRelay"


def _shorter(resources: dict[str, Any]) -> None:
    rule = resources["SpoolBucket"]["Properties"]["LifecycleConfiguration"]["Rules"][0]
    rule["ExpirationInDays"] = 1


def _in_order(resources: dict[str, Any]) -> None:
    resources["JobsQueue"]["Properties"]["FifoQueue"] = True


def test_the_record_is_that_of_the_template() -> None:
    """Nothing would be lost by an update to what is in the tree."""
    assert list(losses(json.loads(RECORD.read_text()), kept(_SOURCE))) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_renamed_key, "Table would be replaced: KeySchema"),
        (_named, "Table would be replaced: TableName"),
        (_renamed, "Table would go"),
        (_without_stream, "Table would be cut: StreamSpecification"),
        (_without_recovery, "Table would be cut: PointInTimeRecoverySpecification"),
        (_deleted_with_the_stack, "SpoolBucket: DeletionPolicy"),
        (_sometimes, "JobsQueue: Condition"),
        (_shorter, "SpoolBucket would be cut: LifecycleConfiguration"),
        (_in_order, "JobsQueue would be replaced: FifoQueue"),
    ],
)
def test_a_change_that_loses_data_is_refused(
    change: Callable[[dict[str, Any]], None], said: str
) -> None:
    """What replaces a resource, takes it away or cuts what it keeps is told by its name."""
    changed = deepcopy(_SOURCE)
    change(changed["Resources"])
    assert any(line.startswith(said) for line in losses(kept(_SOURCE), kept(changed)))


def test_what_keeps_its_data_is_not_refused() -> None:
    """Another limit, a further function or alarm, or a longer wait touch nothing that is kept."""
    changed = deepcopy(_SOURCE)
    resources = changed["Resources"]
    resources["JobsQueue"]["Properties"]["VisibilityTimeout"] = 720
    _table(resources)["BillingMode"] = "PROVISIONED"
    del resources["SlowAlarm"]
    assert list(losses(kept(_SOURCE), kept(changed))) == []
