"""Two stacks in one account and region do not share names, numbers or all of its functions."""

from typing import Any, Final

import pytest

from local import template
from pillarbox.observability import make_metrics
from tests.conditions import containers

_STACK: Final = {"Ref": "AWS::StackName"}
#: With the arguments of the nested stacks in their places.
_RESOURCES: Final[dict[str, Any]] = template.inlined(template.load())["Resources"]


def test_functions_and_containers_write_the_dimension_that_alarms_read() -> None:
    """Powertools makes the dimension `service` from POWERTOOLS_SERVICE_NAME."""
    functions = template.load()["Globals"]["Function"]["Environment"]["Variables"]
    front = {
        item["Name"]: item.get("Value") for item in containers(_RESOURCES)["front"]["Environment"]
    }
    assert functions["POWERTOOLS_SERVICE_NAME"] == front["POWERTOOLS_SERVICE_NAME"] == _STACK


def test_a_metric_has_the_stack_as_its_only_dimension(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "pillarbox-dev")
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Pillarbox")
    metrics = make_metrics()
    metrics.add_metric("overdue", "Count", 0)
    written: Any = metrics.serialize_metric_set()
    metrics.clear_metrics()
    (directive,) = written["_aws"]["CloudWatchMetrics"]
    assert directive["Dimensions"] == [["service"]]
    assert written["service"] == "pillarbox-dev"


def test_the_cluster_needs_no_role_of_the_account() -> None:
    assert "CapacityProviders" not in _RESOURCES["RelayCluster"]["Properties"]
    assert _RESOURCES["RelayService"]["Properties"]["LaunchType"] == "FARGATE"
