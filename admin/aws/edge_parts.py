"""The edge's secret in AWS: Secrets Manager, CloudFront, the firewalls and the containers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

import boto3

from admin.aws import stacks
from pillarbox.domain.errors import ServiceError

_POLL_SECONDS: Final = 10.0
_HEADER: Final = "x-pillarbox-edge"
#: The name of the rule in the template.
_RULE: Final = "edge-only"
#: The logical ids in the template.
_FIREWALLS: Final = ("ApiFirewall", "FrontFirewall")
_EDGE: Final = "Edge"
_SECRET: Final = "EdgeSecret"  # noqa: S105  a name
_RELAY: Final = "Relay"
_RULES: Final = "EdgeRules"

# No type stubs are installed for these services.


class AwsEdgeParts:
    """Implements `use_cases.edge_rotation.EdgeParts`."""

    def __init__(self, stack_id: str, pause: Callable[[float], None]) -> None:
        self._pause = pause
        self._named = stacks.resources(stack_id)
        missing = [name for name in (_EDGE, _SECRET) if name not in self._named]
        if missing:
            message = f"The stack has no {' and no '.join(missing)}: there is nothing to rotate."
            raise ServiceError("service_unavailable", message)
        self._secrets: Any = boto3.client("secretsmanager")
        self._cloudfront: Any = boto3.client("cloudfront")
        self._wafv2: Any = boto3.client("wafv2")
        self._ecs: Any = boto3.client("ecs")

    def stored(self) -> Sequence[str]:
        """Read the values, which a blank separates."""
        return read_values(self._secrets, self._named[_SECRET])

    def store(self, values: Sequence[str]) -> None:
        if list(values) != self.stored():
            text = " ".join(values)
            self._secrets.put_secret_value(SecretId=self._named[_SECRET], SecretString=text)

    def sent(self) -> str:
        config, _ = self._distribution()
        values = {header["HeaderValue"] for header in _headers(config)}
        if len(values) != 1:
            message = f"The edge sends {len(values)} secrets: there is nothing to rotate."
            raise ServiceError("service_unavailable", message)
        (value,) = values
        return str(value)

    def send(self, value: str) -> None:
        config, version = self._distribution()
        changed = [header for header in _headers(config) if header["HeaderValue"] != value]
        for header in changed:
            header["HeaderValue"] = value
        edge = self._named[_EDGE]
        if changed:
            self._cloudfront.update_distribution(
                Id=edge, IfMatch=version, DistributionConfig=config
            )
        while self._cloudfront.get_distribution(Id=edge)["Distribution"]["Status"] != "Deployed":
            self._pause(_POLL_SECONDS)

    def accepted(self) -> Sequence[AbstractSet[str]]:
        return [_accepted(_rule(acl)) for _, acl, _ in self._firewalls()]

    def accept(self, values: AbstractSet[str]) -> None:
        update = self._wafv2.meta.service_model.operation_model("UpdateWebACL")
        for identity, acl, lock in self._firewalls():
            rule = _rule(acl)
            if _accepted(rule) == values:
                continue
            _set_accepted(rule, sorted(values))
            # AWS removes what an update does not repeat.
            same = {name: acl[name] for name in update.input_shape.members if acl.get(name)}
            self._wafv2.update_web_acl(**{**same, **identity}, LockToken=lock)

    def restart_containers(self) -> None:
        """Start new containers, which read the secret; the old ones then finish."""
        relay = self._named.get(_RELAY)
        if relay is None:
            return
        nested = stacks.resources(relay)
        cluster, service = nested["RelayCluster"], nested["RelayService"]
        self._ecs.update_service(cluster=cluster, service=service, forceNewDeployment=True)
        while True:
            (found,) = self._ecs.describe_services(cluster=cluster, services=[service])["services"]
            newest = next(item for item in found["deployments"] if item["status"] == "PRIMARY")
            if newest["rolloutState"] == "FAILED":
                reason = newest.get("rolloutStateReason", "")
                message = f"The containers do not start: {reason} Look at their log, and run again."
                raise ServiceError("service_unavailable", message)
            if newest["rolloutState"] == "COMPLETED" and len(found["deployments"]) == 1:
                return
            self._pause(_POLL_SECONDS)

    def _distribution(self) -> tuple[Any, str]:
        answer = self._cloudfront.get_distribution_config(Id=self._named[_EDGE])
        return answer["DistributionConfig"], answer["ETag"]

    def _firewalls(self) -> Iterator[tuple[Mapping[str, str], Any, str]]:
        """Yield identity, content and lock of each firewall that has the rule."""
        rules = self._named.get(_RULES)
        nested = stacks.resources(rules) if rules else {}
        for physical_id in (nested[name] for name in _FIREWALLS if name in nested):
            name, number, scope = physical_id.split("|")
            identity = {"Name": name, "Scope": scope, "Id": number}
            answer = self._wafv2.get_web_acl(**identity)
            if any(rule["Name"] == _RULE for rule in answer["WebACL"]["Rules"]):
                yield identity, answer["WebACL"], answer["LockToken"]


def is_rotating(stack_id: str) -> bool:
    """Return whether a rotation of a stack's secret has begun and not ended."""
    secret = stacks.resources(stack_id).get(_SECRET)
    return secret is not None and len(read_values(boto3.client("secretsmanager"), secret)) > 1


def read_values(secrets: Any, secret: str) -> list[str]:  # noqa: ANN401  see above
    text: str = secrets.get_secret_value(SecretId=secret)["SecretString"]
    return text.split()


def _headers(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the header with the secret of each origin."""
    return [
        header
        for origin in config["Origins"]["Items"]
        for header in origin.get("CustomHeaders", {}).get("Items", [])
        if header["HeaderName"].lower() == _HEADER
    ]


def _rule(acl: Mapping[str, Any]) -> Any:  # noqa: ANN401  see above
    return next(rule for rule in acl["Rules"] if rule["Name"] == _RULE)


def _matches(rule: Mapping[str, Any]) -> list[Any]:
    """Return the comparisons of the rule, which blocks a request unless one of them matches."""
    statement = rule["Statement"]["NotStatement"]["Statement"]
    any_of: list[Any] = statement.get("OrStatement", {}).get("Statements", [statement])
    return [part["ByteMatchStatement"] for part in any_of]


def _accepted(rule: Mapping[str, Any]) -> AbstractSet[str]:
    return {bytes(match["SearchString"]).decode() for match in _matches(rule)}


def _set_accepted(rule: Mapping[str, Any], values: Sequence[str]) -> None:
    form = _matches(rule)[0]
    parts = [{"ByteMatchStatement": form | {"SearchString": value.encode()}} for value in values]
    statement = parts[0] if len(parts) == 1 else {"OrStatement": {"Statements": parts}}
    rule["Statement"]["NotStatement"]["Statement"] = statement
