"""Subscriptions to the topic of a stack's alarms."""

from dataclasses import dataclass
from typing import Any, Final

import boto3

from admin.aws import stacks
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed

#: The logical id in the template.
_TOPIC: Final = "AlarmTopic"


@dataclass(frozen=True, slots=True)
class AlarmSubscription:
    """A recipient of alarms; SNS sends it nothing before it is confirmed."""

    endpoint: str
    confirmed: bool


def subscribe(stack_id: str, endpoint: str) -> AlarmSubscription:
    """Subscribe an address, or ask again for the confirmation that is missing."""
    protocol = _protocol(endpoint)
    topic = stacks.resources(stack_id).get(_TOPIC)
    if topic is None:
        message = "The stack has no topic for alarms. Deploy it first: pillarbox deploy."
        raise ServiceError("service_unavailable", message)
    sns: Any = boto3.client("sns")  # no type stubs
    if _confirmed(sns, topic, endpoint):
        return AlarmSubscription(endpoint, confirmed=True)
    answer = sns.subscribe(TopicArn=topic, Protocol=protocol, Endpoint=endpoint)
    return AlarmSubscription(endpoint, confirmed=answer["SubscriptionArn"].startswith("arn:"))


def _confirmed(sns: Any, topic: str, endpoint: str) -> bool:  # noqa: ANN401  see above
    return any(
        subscription["Endpoint"] == endpoint and subscription["SubscriptionArn"].startswith("arn:")
        for page in sns.get_paginator("list_subscriptions_by_topic").paginate(TopicArn=topic)
        for subscription in page["Subscriptions"]
    )


def _protocol(endpoint: str) -> str:
    if endpoint.startswith("https://"):
        return "https"
    name, at, domain = endpoint.partition("@")
    if name and at and "." in domain and not set(" @") & set(domain):
        return "email"
    error = FieldError("ADDRESS", "must be an email address or an https: URL.", "format")
    raise ValidationFailed(error)
