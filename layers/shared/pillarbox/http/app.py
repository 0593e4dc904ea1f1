"""The resolver that every HTTP function uses, and the entry point around it."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.utilities.typing import LambdaContext

from pillarbox import observability
from pillarbox.config import SettingMissing
from pillarbox.domain.errors import ServiceError
from pillarbox.http.replies import reply_error
from pillarbox.http.routes import allowed_methods, canonical_path

type Handler = Callable[[dict[str, Any], LambdaContext], dict[str, Any]]


def build_app() -> APIGatewayRestResolver:
    """Make a resolver whose every answer is the contract's JSON."""
    app = APIGatewayRestResolver()

    @app.exception_handler(ServiceError)  # type: ignore[untyped-decorator]
    def _(error: ServiceError) -> Response[str]:
        return reply_error(error)

    @app.not_found
    def _(_: NotFoundError) -> Response[str]:
        return reply_error(_no_route(app.current_event.path))

    return app


def entrypoint(app: APIGatewayRestResolver) -> Handler:
    """Wrap a resolver: both path readings, a request id, and no error without its envelope."""
    logger = observability.make_logger()

    def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
        request_id = event.get("requestContext", {}).get("requestId") or context.aws_request_id
        event["path"] = canonical_path(event)
        try:
            answer = app.resolve(event, context)
        except SettingMissing:
            raise  # a deployment that lacks a setting must not look like a working one
        except Exception as error:  # noqa: BLE001  the envelope is for every failure
            observability.log_failure(logger, error, request_id=request_id)
            answer = _internal_error()
        answer["multiValueHeaders"]["X-Request-Id"] = [request_id]
        observability.log_answer(logger, event, answer["statusCode"], request_id=request_id)
        return answer

    return lambda_handler


def _no_route(path: str) -> ServiceError:
    methods = allowed_methods(path)
    if not methods:
        return ServiceError("route_not_found", "There is no such route.")
    allow = ", ".join(methods)
    return ServiceError(
        "method_not_allowed", f"This route takes {allow}.", headers={"Allow": allow}
    )


def _internal_error() -> dict[str, Any]:
    error = ServiceError("internal_error", "Something went wrong on our side.")
    return {
        "statusCode": HTTPStatus.INTERNAL_SERVER_ERROR.value,
        "body": reply_error(error).body,
        "isBase64Encoded": False,
        "multiValueHeaders": {"Content-Type": ["application/json"]},
    }
