"""The HTTP API: routes, requests and responses.

Of two packages the modules here use only a part, and import it by its own name.
"""

from pillarbox.http.packages import defer_package

defer_package("aws_lambda_powertools.event_handler")
defer_package("pydantic_core")
