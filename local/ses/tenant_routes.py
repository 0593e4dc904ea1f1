"""The operations of tenants in the SES stand-in, with the errors of the service model."""

from datetime import UTC, datetime
from typing import Final, cast, get_args

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from local.ses.bodies import only, page_of, read_object, text_of
from local.ses.errors import SesError, bad_request, not_found
from local.ses.store import MailStore
from local.ses.suppression import SuppressionOptions
from local.ses.suppression_routes import read_suppression, suppression_members
from local.ses.tenants import Tenant, TenantStatus
from pillarbox.domain.errors import Json

_POLICIES: Final = ("none", "standard", "strict")
_RESOURCE_TYPES: Final = {
    "identity": "EMAIL_IDENTITY",
    "configuration-set": "CONFIGURATION_SET",
    "template": "EMAIL_TEMPLATE",
}
_ENTITIES: Final = "/v2/email/reputation/entities/RESOURCE/{reference:path}"


def tenant_routes(mailbox: MailStore) -> list[Route]:
    """Return the routes of all operations of tenants.

    Args:
        mailbox: the state, with the identities and configuration sets that tenants use.
    """
    api = _Tenants(mailbox)
    operations = {
        "/v2/email/tenants": api.create,
        "/v2/email/tenants/get": api.get,
        "/v2/email/tenants/list": api.list_all,
        "/v2/email/tenants/delete": api.delete,
        "/v2/email/tenants/resources": api.associate,
        "/v2/email/tenants/resources/list": api.resources,
        "/v2/email/tenants/resources/delete": api.dissociate,
        "/v2/email/resources/tenants/list": api.of_resource,
        "/v2/email/tenant/suppression": api.put_suppression,
    }
    return [
        *(Route(path, operation, methods=["POST"]) for path, operation in operations.items()),
        Route(f"{_ENTITIES}/policy", api.put_policy, methods=["PUT"]),
        Route(f"{_ENTITIES}/customer-managed-status", api.put_status, methods=["PUT"]),
        Route(_ENTITIES, api.entity),
    ]


class _Tenants:
    """One method per operation."""

    def __init__(self, mailbox: MailStore) -> None:
        self._mailbox = mailbox
        self._tenants = mailbox.tenants

    async def create(self, request: Request) -> Response:
        body = await read_object(request, "TenantName", "SuppressionAttributes")
        name = text_of(body, "TenantName")
        if len(name) > 64 or not name.replace("-", "").replace("_", "").isalnum():  # noqa: PLR2004
            raise bad_request("TenantName has up to 64 letters, digits, hyphens and underscores.")
        given = only(body, "SuppressionAttributes", "SuppressedReasons", "SuppressionScope")
        return JSONResponse(_tenant(self._tenants.create(name, _tenant_suppression(given))))

    async def get(self, request: Request) -> Response:
        return JSONResponse({"Tenant": _tenant(await self._named(request))})

    async def list_all(self, request: Request) -> Response:
        body = await read_object(request, "NextToken", "PageSize")
        return page_of(body, "Tenants", [_summary(tenant) for tenant in self._tenants])

    async def delete(self, request: Request) -> Response:
        self._tenants.delete((await self._named(request)).name)
        return JSONResponse({})

    async def associate(self, request: Request) -> Response:
        body = await read_object(request, "TenantName", "ResourceArn")
        tenant, arn = self._tenants.get(text_of(body, "TenantName")), text_of(body, "ResourceArn")
        self._check_exists(arn)
        if arn in tenant.resources:
            raise SesError("AlreadyExistsException", f"{arn} is associated already.")
        tenant.resources[arn] = datetime.now(UTC)
        return JSONResponse({})

    async def dissociate(self, request: Request) -> Response:
        body = await read_object(request, "TenantName", "ResourceArn")
        tenant, arn = self._tenants.get(text_of(body, "TenantName")), text_of(body, "ResourceArn")
        if tenant.resources.pop(arn, None) is None:
            raise not_found(f"{arn} is not associated with tenant <{tenant.name}>.")
        return JSONResponse({})

    async def resources(self, request: Request) -> Response:
        body = await read_object(request, "TenantName", "NextToken", "PageSize")
        tenant = self._tenants.get(text_of(body, "TenantName"))
        found: list[Json] = [
            {"ResourceType": _RESOURCE_TYPES[_split(arn)[0]], "ResourceArn": arn}
            for arn in tenant.resources
        ]
        return page_of(body, "TenantResources", found)

    async def of_resource(self, request: Request) -> Response:
        body = await read_object(request, "ResourceArn", "NextToken", "PageSize")
        arn = text_of(body, "ResourceArn")
        self._check_exists(arn)
        found: list[Json] = [
            {
                "TenantName": tenant.name,
                "TenantId": tenant.tenant_id,
                "ResourceArn": arn,
                "AssociatedTimestamp": tenant.resources[arn].timestamp(),
            }
            for tenant in self._tenants
            if arn in tenant.resources
        ]
        return page_of(body, "ResourceTenants", found)

    async def put_suppression(self, request: Request) -> Response:
        body = await read_object(request, "TenantName", "SuppressionScope", "SuppressedReasons")
        tenant = self._tenants.get(text_of(body, "TenantName"))
        tenant.suppression = _tenant_suppression(body)
        return JSONResponse({})

    async def put_policy(self, request: Request) -> Response:
        policy = text_of(
            await read_object(request, "ReputationEntityPolicy"), "ReputationEntityPolicy"
        )
        if policy.removeprefix(self._tenants.policies) not in _POLICIES:
            raise bad_request(f"{policy} is no reputation policy.")
        self._entity(request).policy = policy
        return JSONResponse({})

    async def put_status(self, request: Request) -> Response:
        status = text_of(await read_object(request, "SendingStatus"), "SendingStatus")
        if status not in get_args(TenantStatus.__value__):
            raise bad_request("SendingStatus must be ENABLED, REINSTATED or DISABLED.")
        self._tenants.set_status(
            self._entity(request),
            "CUSTOMER_MANAGED",
            cast("TenantStatus", status),
            "Status manually updated.",
        )
        return JSONResponse({})

    async def entity(self, request: Request) -> Response:
        tenant = self._entity(request)
        entity: dict[str, Json] = {
            "ReputationEntityReference": tenant.arn,
            "ReputationEntityType": "RESOURCE",
            "ReputationManagementPolicy": tenant.policy,
            "CustomerManagedStatus": {"Status": tenant.statuses["CUSTOMER_MANAGED"]},
            "AwsSesManagedStatus": {"Status": tenant.statuses["AWS_MANAGED"]},
            "SendingStatusAggregate": tenant.status,
        }
        return JSONResponse({"ReputationEntity": entity})

    async def _named(self, request: Request) -> Tenant:
        return self._tenants.get(text_of(await read_object(request, "TenantName"), "TenantName"))

    def _entity(self, request: Request) -> Tenant:
        return self._tenants.of_arn(request.path_params["reference"])

    def _check_exists(self, arn: str) -> None:
        kind, name = _split(arn)
        if not arn.startswith(self._tenants.start) or kind not in _RESOURCE_TYPES:
            raise bad_request(f"{arn} is no resource of a tenant.")
        exists = (
            self._mailbox.identity_verified(name) is not None
            if kind == "identity"
            else name in self._mailbox.configuration_sets
        )
        if not exists:
            raise not_found(f"{arn} does not exist.")


def _split(arn: str) -> tuple[str, str]:
    """Return the type and the name of a resource."""
    kind, _, name = arn.rpartition(":")[2].partition("/")
    return kind, name


def _summary(tenant: Tenant) -> dict[str, Json]:
    return {
        "TenantName": tenant.name,
        "TenantId": tenant.tenant_id,
        "TenantArn": tenant.arn,
        "CreatedTimestamp": tenant.created_at.timestamp(),
        "SendingStatus": tenant.status,
    }


def _tenant(tenant: Tenant) -> dict[str, Json]:
    tags: dict[str, Json] = {"Tags": []}
    return (
        _summary(tenant) | tags | suppression_members("SuppressionAttributes", tenant.suppression)
    )


def _tenant_suppression(body: dict[str, Json]) -> SuppressionOptions:
    """Read scope and reasons, of which SES wants both or none (dg, tenant-level suppression)."""
    options = read_suppression(body)
    if (options.reasons is None) != (options.scope is None):
        raise bad_request("SuppressionScope and SuppressedReasons must be given together.")
    return options
