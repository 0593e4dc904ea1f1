"""The resolver of every HTTP function, and the entry point around it."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, cast

from aws_lambda_powertools.event_handler.api_gateway import APIGatewayRestResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.package_logger import set_package_logger_handler
from aws_lambda_powertools.utilities.typing import LambdaContext

from pillarbox import observability
from pillarbox.application.ports import StoredResponse
from pillarbox.domain.errors import MethodNotAllowed, ServiceError
from pillarbox.http.messages.replies import Reply, common_headers, reply_error
from pillarbox.http.requests import check_agent
from pillarbox.http.routes import canonical_path, check_method
from pillarbox.settings import SettingError

if TYPE_CHECKING:
    from pillarbox.http.callers import Callers

#: The member of a request's event that holds more fields for its log line.
_LOG_FIELDS: Final = "pillarbox.log_fields"

type Next = Callable[[APIGatewayRestResolver], Response[Any]]
type Handler = Callable[[dict[str, Any], LambdaContext], dict[str, Any]]
type App = APIGatewayRestResolver
type Run = Callable[..., Any]


def build_app(
    write_error: Callable[[ServiceError], Reply] = reply_error,
) -> APIGatewayRestResolver:
    """Return a resolver that responds with JSON, also to errors: by default the contract's."""
    # The `__init__` of Powertools, which does not run, drops its own log lines in this way.
    set_package_logger_handler()  # type: ignore[no-untyped-call]
    app = APIGatewayRestResolver()
    app.use(middlewares=[_refuse_default_agents])
    logger = observability.make_logger()

    @app.exception_handler(ServiceError)  # type: ignore[untyped-decorator]
    def _(error: ServiceError) -> Reply:
        app.current_event.raw_event[_LOG_FIELDS] = error.log_fields
        return write_error(error)

    @app.exception_handler(Exception)  # type: ignore[untyped-decorator]
    def _(error: Exception) -> Reply:
        # Caught here, because the resolver would log the exception with its message.
        if isinstance(error, SettingError):
            raise error  # without the setting, the deployment must not look healthy
        observability.log_failure(logger, error, request_id=request_id(app.current_event.raw_event))
        return write_error(ServiceError("internal_error", "Something went wrong on our side."))

    @app.not_found
    def _(_: NotFoundError) -> Reply:
        try:
            check_method(app.current_event.http_method, app.current_event.path)
        except MethodNotAllowed as error:
            return write_error(error)
        return write_error(ServiceError("route_not_found", "There is no such route."))

    return app


def routes(
    app: App,
    services: Callable[[], Any] = dict,
) -> Callable[..., Callable[[Run], Run]]:
    """Return what gives a resolver its routes, as a decorator of functions.

    `@route("POST /v1/keys", managing(KEYS_WRITE), body=CreateKeyRequest, status=201)` has the
    method and the path, who may call it, and other fields of `openapi.operation.Operation`. By
    default it is for API keys, which the function reads. The text `module:name` is a type that
    functions do not load. The OpenAPI document has the name of the function as the operation's id,
    and its docstring as summary, description and errors.
    """

    def route(
        rule: str, callers: "Callers[Any] | None" = None, **declared: object
    ) -> Callable[[Run], Run]:
        method, _, path = rule.partition(" ")
        # A parameter of a function in Python is not called `id`.
        path = path.replace("{id}", "{template_id}").replace("{", "<").replace("}", ">")

        def register(run: Run) -> Run:
            run.operation = rule, callers, declared  # type: ignore[attr-defined]
            answer = callers.answering(run, app, services, declared) if callers else run
            app.route(path, method)(answer)
            return run

        return register

    return route


def _refuse_default_agents(app: APIGatewayRestResolver, proceed: Next) -> Response[Any]:
    """Run a route, unless the agent is refused: requests to the gateway itself pass no edge."""
    check_agent(app.current_event)
    return proceed(app)


def entrypoint(app: App, services: Callable[[], Any] = dict, **dialects: str) -> Handler:
    """Wrap a resolver: a canonical path, a request id on every response, one log line each.

    `dialects` has the first segment of paths in the shape of another service, and the function that
    makes their resolver: `resend="resend.domains:domain_routes"`, with its module in this package.
    The first such path loads it, so that others do not wait for it.
    """
    logger = observability.make_logger()

    @cache
    def resolver_of(place: str) -> App:
        module, _, name = place.partition(":")
        make = getattr(import_module(f"pillarbox.http.{module}"), name)
        return cast("App", make(services))

    def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
        event["path"] = canonical_path(event)
        place = dialects.get(event["path"][1:].partition("/")[0])
        resolver = resolver_of(place) if place else app
        response = resolver.resolve(event, context)
        response["multiValueHeaders"] |= common_headers(request_id(event))
        log_fields = {"request_id": request_id(event)} | event.pop(_LOG_FIELDS, {})
        observability.log_response(logger, event, response["statusCode"], **log_fields)
        return response

    return lambda_handler


def log_accepted(event: dict[str, Any], account_id: str | None, response: StoredResponse) -> None:
    """Add the account and the accepted messages to the log line of a request.

    The line of a replayed batch has no message ids; that of the first request has them.
    """
    event[_LOG_FIELDS] = {
        "account_id": account_id,
        "message_ids": [str(message_id) for message_id in response.message_ids if message_id],
    }


def request_id(event: Mapping[str, Any]) -> str:
    """Return the id that API Gateway gave the request; its log lines have it."""
    return str(event["requestContext"]["requestId"])
