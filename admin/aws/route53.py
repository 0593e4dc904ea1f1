"""The hosted zones of the AWS account in Route 53."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pillarbox.adapters.aws import client_of, operator_errors
from pillarbox.application.accounts.ports import DnsRecord, HostedZone

_NAME: Final = "Route 53 API"
#: Seconds: short, so that resolvers soon forget a mistake.
_TTL: Final = 300
#: One of the quoted strings of a TXT value.
_STRING: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')


class Route53Zones:
    """Implements `accounts.ports.HostedZones`."""

    _route53: Any = client_of("route53")

    def zones_for(self, name: str) -> Sequence[HostedZone]:
        """Return the public zones that contain a name: those with the longest zone name."""
        with operator_errors(_NAME):
            pages = self._route53.get_paginator("list_hosted_zones").paginate()
            zones = [
                HostedZone(zone["Id"].rpartition("/")[2], zone["Name"].rstrip("."))
                for page in pages
                for zone in page["HostedZones"]
                if not zone["Config"]["PrivateZone"]
            ]
        matching = [zone for zone in zones if f".{name}".endswith(f".{zone.name}")]
        longest = max((len(zone.name) for zone in matching), default=0)
        return [zone for zone in matching if len(zone.name) == longest]

    def values_at(self, zone: HostedZone, name: str) -> Mapping[str, Sequence[str]]:
        """Return the values at a name by record type; an alias has no values."""
        values: dict[str, list[str]] = {}
        with operator_errors(_NAME):
            # Route 53 sorts by name, so the records of the name come first.
            response = self._route53.list_resource_record_sets(
                HostedZoneId=zone.zone_id, StartRecordName=f"{name}."
            )
        for record_set in response["ResourceRecordSets"]:
            if record_set["Name"] == f"{name}.":
                records = record_set.get("ResourceRecords", ())
                values.setdefault(record_set["Type"], []).extend(
                    _parse(record["Value"]) for record in records
                )
        return values

    def create(self, zone: HostedZone, records: Sequence[DnsRecord]) -> None:
        """Create records in one change. Route 53 refuses CREATE if a record set exists."""
        changes = [
            {
                "Action": "CREATE",
                "ResourceRecordSet": {
                    "Name": record.name,
                    "Type": record.type,
                    "TTL": _TTL,
                    "ResourceRecords": [{"Value": _format(record)}],
                },
            }
            for record in records
        ]
        with operator_errors(_NAME):
            self._route53.change_resource_record_sets(
                HostedZoneId=zone.zone_id, ChangeBatch={"Changes": changes}
            )


def _format(record: DnsRecord) -> str:
    return f'"{record.value}"' if record.type == "TXT" else record.value


def _parse(value: str) -> str:
    """Join the strings of a text, or remove the trailing dot of a name."""
    strings = _STRING.findall(value)
    return "".join(strings) if strings else value.rstrip(".")
