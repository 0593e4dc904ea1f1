"""The HTTP API: routes, requests and responses.

Each area has its requests in `wire.py` and its replies in `replies.py`. The types of replies are
in `reply_types.py`: their texts need pydantic, whose import alone adds 22 to 310 ms of start.
"""

from pillarbox.http.packages import defer_package

# The modules here import what they use of these packages from its own module.
defer_package("aws_lambda_powertools", {"Logger": "logging", "Metrics": "metrics"})
defer_package("aws_lambda_powertools.event_handler")
defer_package("aws_lambda_powertools.event_handler.openapi")
defer_package(
    "aws_lambda_powertools.utilities.data_classes",
    {
        "ALBEvent": "alb_event",
        "APIGatewayProxyEvent": "api_gateway_proxy_event",
        "APIGatewayProxyEventV2": "api_gateway_proxy_event",
        "BedrockAgentEvent": "bedrock_agent_event",
        "LambdaFunctionUrlEvent": "lambda_function_url_event",
        # The module of SQS events takes it from the package, so a program that has both needs it.
        "S3Event": "s3_event",
        "VPCLatticeEvent": "vpc_lattice",
        "VPCLatticeEventV2": "vpc_lattice",
    },
)
defer_package("pydantic_core")
