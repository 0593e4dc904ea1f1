"""The operations of configuration sets and their event destinations."""

from typing import TYPE_CHECKING, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from local.ses.bodies import flag_of, only, read_object, text_of
from local.ses.errors import SesError, not_found
from local.ses.store import MailStore, StoredConfigurationSet
from local.ses.suppression_routes import read_suppression, suppression_members

if TYPE_CHECKING:
    from pillarbox.domain.errors import Json

_SETS: Final = "/v2/email/configuration-sets"
_SET: Final = f"{_SETS}/{{name}}"


def configuration_set_routes(mailbox: MailStore) -> list[Route]:
    """Return the routes of the operations of configuration sets."""
    api = _ConfigurationSets(mailbox)
    return [
        Route(_SETS, api.create, methods=["POST"]),
        Route(_SET, api.get),
        Route(f"{_SET}/sending", api.put_sending, methods=["PUT"]),
        Route(f"{_SET}/suppression-options", api.put_suppression, methods=["PUT"]),
        Route(f"{_SET}/event-destinations", api.create_destination, methods=["POST"]),
        Route(f"{_SET}/event-destinations", api.get_destinations),
    ]


class _ConfigurationSets:
    """One method per operation."""

    def __init__(self, mailbox: MailStore) -> None:
        self._mailbox = mailbox

    async def create(self, request: Request) -> Response:
        body = await read_object(request, "ConfigurationSetName", "SuppressionOptions")
        name = text_of(body, "ConfigurationSetName")
        if name in self._mailbox.configuration_sets:
            message = f"Configuration set <{name}> already exists."
            raise SesError("AlreadyExistsException", message)
        options = only(body, "SuppressionOptions", "SuppressedReasons", "SuppressionScope")
        created = self._mailbox.create_configuration_set(name, publish=frozenset())
        created.suppression = read_suppression(options)
        return JSONResponse({})

    async def get(self, request: Request) -> Response:
        found = self._named(request)
        answer: dict[str, Json] = {
            "ConfigurationSetName": found.name,
            "DeliveryOptions": {"TlsPolicy": "OPTIONAL"},
            "ReputationOptions": {"ReputationMetricsEnabled": False},
            "SendingOptions": {"SendingEnabled": found.sending_enabled},
            "Tags": [],
        }
        return JSONResponse(answer | suppression_members("SuppressionOptions", found.suppression))

    async def put_sending(self, request: Request) -> Response:
        body = await read_object(request, "SendingEnabled")
        self._named(request).sending_enabled = flag_of(body, "SendingEnabled")
        return JSONResponse({})

    async def put_suppression(self, request: Request) -> Response:
        body = await read_object(request, "SuppressedReasons", "SuppressionScope")
        self._named(request).suppression = read_suppression(body)
        return JSONResponse({})

    async def create_destination(self, request: Request) -> Response:
        found = self._named(request)
        body = await read_object(request, "EventDestinationName", "EventDestination")
        name = text_of(body, "EventDestinationName")
        definition = only(
            body, "EventDestination", "Enabled", "MatchingEventTypes", "EventBridgeDestination"
        )
        if name in found.event_destinations:
            message = f"Event destination <{name}> already exists."
            raise SesError("AlreadyExistsException", message)
        found.event_destinations[name] = definition
        return JSONResponse({})

    async def get_destinations(self, request: Request) -> Response:
        destinations: list[Json] = [
            {"Name": name, "Enabled": False, **definition}
            for name, definition in self._named(request).event_destinations.items()
        ]
        return JSONResponse({"EventDestinations": destinations})

    def _named(self, request: Request) -> StoredConfigurationSet:
        name: str = request.path_params["name"]
        try:
            return self._mailbox.configuration_sets[name]
        except KeyError:
            raise not_found(f"Configuration set <{name}> does not exist.") from None
