"""The HTTP API: routes, requests and responses."""

from pillarbox.http.packages import defer_package

# The modules here import what they use of these packages from its own module.
defer_package("aws_lambda_powertools.event_handler")
defer_package("pydantic_core")
