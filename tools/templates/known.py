"""What exists in AWS and has no schema, and checks that the templates name nothing else.

Each table has what the templates may use, from the page beside it, read in 2026-11.
"""

from collections.abc import Iterator
from typing import Final

from tools.templates.defects import Defect
from tools.templates.stack import Stack
from tools.templates.translate import Json

#: docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html, and
#: docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html
_CONDITION_KEYS: Final = {
    "aws:PrincipalArn",
    "aws:SecureTransport",
    "aws:SourceAccount",
    "aws:SourceArn",
    "dynamodb:Attributes",
    "dynamodb:LeadingKeys",
}

#: Namespace and dimensions -> metrics: the page "metrics" of each service's guide.
_METRICS: Final = {
    ("AWS/ApiGateway", "ApiName"): "4XXError 5XXError Count",
    ("AWS/ApplicationELB", "LoadBalancer"): "HTTPCode_ELB_5XX_Count HTTPCode_Target_5XX_Count",
    ("AWS/DynamoDB", "TableName"): "ReadThrottleEvents WriteThrottleEvents",
    ("AWS/Lambda", ""): "Throttles",
    ("AWS/Lambda", "FunctionName"): "Errors IteratorAge Url4xxCount Url5xxCount UrlRequestCount",
    ("AWS/NetworkELB", "LoadBalancer"): "ActiveFlowCount",
    ("AWS/NetworkELB", "LoadBalancer TargetGroup"): "HealthyHostCount",
    ("AWS/SES", ""): "Reputation.BounceRate Reputation.ComplaintRate",
    ("AWS/SQS", "QueueName"): "ApproximateAgeOfOldestMessage ApproximateNumberOfMessagesVisible",
}

#: The property of a cache behaviour -> ids of CloudFront's own policies: using-managed-cache-
#: policies.html, -origin-request-policies.html and -response-headers-policies.html of its guide.
_CLOUDFRONT_POLICIES: Final = {
    "CachePolicyId": {
        "4135ea2d-6df8-44a3-9df3-4b5a84be39ad",  # CachingDisabled
        "658327ea-f89d-4fab-a63d-7e88639e58f6",  # CachingOptimized
    },
    "OriginRequestPolicyId": {"b689b0a8-53d0-40ab-baf2-68738e2966ac"},  # AllViewerExceptHostHeader
    "ResponseHeadersPolicyId": set[str](),
}

#: AWS's rule groups -> rules that a firewall may only count:
#: docs.aws.amazon.com/waf/latest/developerguide/aws-managed-rule-groups-list.html
_RULE_GROUPS: Final = {
    "AWSManagedRulesAmazonIpReputationList": "",
    "AWSManagedRulesCommonRuleSet": "CrossSiteScripting_BODY EC2MetaDataSSRF_BODY GenericLFI_BODY"
    " GenericRFI_BODY SizeRestrictions_BODY",
    "AWSManagedRulesKnownBadInputsRuleSet": "JavaDeserializationRCE_BODY Log4JRCE_BODY"
    " ReactJSRCE_BODY",
}

#: AWS::SES::ConfigurationSetEventDestination, MatchingEventTypes.
_EVENT_TYPES: Final = {
    *("send", "reject", "bounce", "complaint", "delivery", "open", "click"),
    *("renderingFailure", "deliveryDelay", "subscription"),
}


def check_known(stack: Stack) -> Iterator[Defect]:
    """Each condition key, managed policy and type of event exists; a stream loses no record.

    AWS takes a condition with an unknown key, and it is never met.
    """
    for key, resource in stack.resources.items():
        for name, value in _named(resource.get("Properties", {})):
            unknown = _unknown(name, value)
            if unknown:
                message = f"{name} has {' and '.join(unknown)}, which AWS is not known to have."
                remedy = "Correct it, or add it to tools/templates/known.py with its source."
                yield Defect(stack.file, key, message, remedy)
            if name == "StartingPosition" and value != "TRIM_HORIZON":
                message = f"It begins at {value}, so it misses what comes before Lambda reads."
                yield Defect(stack.file, key, message, "Begin at TRIM_HORIZON.")


def is_metric(namespace: str, name: str, dimensions: Json) -> bool:
    """Return whether a service of AWS has a metric with these dimensions."""
    return name in _METRICS.get((namespace, " ".join(sorted(dimensions))), "").split()


def _named(part: Json) -> Iterator[tuple[str, Json]]:
    """Yield each name in a part of a template, at every depth, with its value."""
    for name, value in part.items() if isinstance(part, dict) else enumerate(part):
        yield str(name), value
        if isinstance(value, dict | list):
            yield from _named(value)


def _unknown(name: str, value: Json) -> list[str]:
    """Return which words of a property do not exist."""
    match name, value:
        case "Condition", dict():
            keys = [key for each in value.values() if isinstance(each, dict) for key in each]
            return [key for key in keys if key not in _CONDITION_KEYS]
        case "ManagedRuleGroupStatement", {"Name": group}:
            rules = [rule["Name"] for rule in value.get("RuleActionOverrides", [])]
            known = _RULE_GROUPS.get(group, "").split()
            return [word for word in (group, *rules) if word not in (*_RULE_GROUPS, *known)]
        case "MatchingEventTypes", list():
            return [kind for kind in value if kind not in _EVENT_TYPES]
        case _, str() if name in _CLOUDFRONT_POLICIES:
            return [] if value in _CLOUDFRONT_POLICIES[name] else [value]
    return []
