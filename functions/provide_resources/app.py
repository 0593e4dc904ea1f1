"""Invoked by CloudFormation: create, change and delete what stacks have as Custom::Pillarbox…."""

from typing import Any

from pillarbox.consumer import LambdaContext, run_on_invocation
from pillarbox.http.cloudformation import ResourceProvider, in_json
from pillarbox.wiring import load, services


def provide_resources(event: dict[str, Any], context: LambdaContext) -> dict[str, int]:
    provider = ResourceProvider(
        api=services().management_api,
        secrets=services().provisioned_secrets,
        seconds_left=lambda: context.get_remaining_time_in_millis() / 1_000,
    )
    response = provider.respond(event)
    services().answer_cloudformation(event["ResponseURL"], in_json(response))
    # Such as create_done: no property, since some are addresses.
    return {f"{event['RequestType'].lower()}_{response.outcome}": 1}


load(lambda it: (it.management_api, it.provisioned_secrets))
lambda_handler = run_on_invocation(provide_resources)
