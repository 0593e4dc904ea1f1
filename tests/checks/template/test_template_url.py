"""With EdgeService=url the edge reaches send_email without API Gateway."""

from typing import Any, Final

from tests.deployed import of_type, properties, refusals, resources
from tests.loops import for_each

_CHOSEN: Final = "function-url"
_ALARMS_OF_ERRORS: Final = ["RolloutAlarm", "ServerErrorsAlarm"]


def test_the_edge_sends_its_secret_to_the_url() -> None:
    """The function compares it, so it may read it; no worker may."""
    origins = properties("Edge", _CHOSEN)["DistributionConfig"]["Origins"]
    (api, send) = (one for one in origins if one["Id"] in {"api", "send"})
    behaviours = properties("Edge", _CHOSEN)["DistributionConfig"]["CacheBehaviors"]
    (one,) = (each for each in behaviours if each["TargetOriginId"] == "send")
    default = properties("Edge", _CHOSEN)["DistributionConfig"]["DefaultCacheBehavior"]
    assert {**default, "TargetOriginId": "send", "PathPattern": "/api/v1/emails"} == one
    assert send["OriginCustomHeaders"] == api["OriginCustomHeaders"]
    assert send["CustomOriginConfig"]["OriginProtocolPolicy"] == "https-only"
    assert "secretsmanager:GetSecretValue" in str(resources(_CHOSEN)["SendEmailRole"])
    assert "secretsmanager:GetSecretValue" not in str(resources(_CHOSEN)["DeliverMessageRole"])


def test_everybody_may_call_the_alias_through_the_url_only() -> None:
    """A URL needs two permissions. Neither lets anybody invoke a function in another way."""
    (url,) = of_type("AWS::Lambda::Url", _CHOSEN).values()
    assert (url["Qualifier"], url["AuthType"]) == ("live", "NONE")
    public: list[dict[str, Any]] = [
        permission
        for permission in of_type("AWS::Lambda::Permission", _CHOSEN).values()
        if permission["Principal"] == "*"
    ]
    limits = {one["Action"]: set(one) - {"FunctionName", "Action", "Principal"} for one in public}
    assert limits == {
        "lambda:InvokeFunctionUrl": {"FunctionUrlAuthType"},
        "lambda:InvokeFunction": {"InvokedViaFunctionUrl"},
    }


def test_by_default_there_is_no_url() -> None:
    assert not of_type("AWS::Lambda::Url", "everything")
    for name in _ALARMS_OF_ERRORS:
        alarm = properties(name, "everything")["Metrics"]
        assert [one for one in alarm if one["Id"] == "sends"] == []


@for_each("name", _ALARMS_OF_ERRORS)
def test_alarms_see_failures_behind_the_url(name: str) -> None:
    total, *parts = properties(name, _CHOSEN, Rollout="Canary10Percent10Minutes")["Metrics"]
    (sends,) = (one["MetricStat"]["Metric"] for one in parts if one["Id"] == "sends")
    assert sends["MetricName"] == "Url5xxCount"
    assert sends["Dimensions"] == [{"Name": "FunctionName", "Value": {"Ref": "SendEmail"}}]
    assert "FILL(sends, 0)" in str(total["Expression"])


def test_the_dashboard_shows_requests_to_the_url() -> None:
    board = str(properties("Dashboard", _CHOSEN, AlarmSet="all")["DashboardBody"])
    assert '"Url5xxCount"' in board


def test_a_url_has_no_firewall() -> None:
    assert refusals("prod", EdgeService="url") == []
    assert len(refusals("prod", EdgeService="url", Firewall="basic")) == 1
