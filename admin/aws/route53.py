"""Route 53: the hosted zones of the account."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from pillarbox.adapters.aws import make_client, operator_errors
from pillarbox.application.accounts.ports import DnsRecord, Zone

_NAME: Final = "name service"
#: Seconds: short, so that a mistake is soon forgotten.
_TTL: Final = 300
_STRING: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')


class HostedZones:
    """Fulfils `administration.ports.Zones`."""

    @cached_property
    def _route53(self) -> Any:  # noqa: ANN401  no types are installed for it
        return make_client("route53")

    def holding(self, name: str) -> Sequence[Zone]:
        """The public zones with the longest name that the name is in or under."""
        with operator_errors(_NAME):
            pages = self._route53.get_paginator("list_hosted_zones").paginate()
            zones = [
                Zone(zone["Id"].rpartition("/")[2], zone["Name"].rstrip("."))
                for page in pages
                for zone in page["HostedZones"]
                if not zone["Config"]["PrivateZone"]
            ]
        holding = [zone for zone in zones if f".{name}".endswith(f".{zone.name}")]
        longest = max((len(zone.name) for zone in holding), default=0)
        return [zone for zone in holding if len(zone.name) == longest]

    def values(self, zone: Zone, name: str) -> Mapping[str, Sequence[str]]:
        """The values at a name by type; an alias has none."""
        found: dict[str, list[str]] = {}
        with operator_errors(_NAME):
            # They come in order, so those of the name are the first.
            answer = self._route53.list_resource_record_sets(
                HostedZoneId=zone.zone_id, StartRecordName=f"{name}."
            )
        for each in answer["ResourceRecordSets"]:
            if each["Name"] == f"{name}.":
                records = found.setdefault(each["Type"], [])
                records += (_read(record["Value"]) for record in each.get("ResourceRecords", ()))
        return found

    def create(self, zone: Zone, records: Sequence[DnsRecord]) -> None:
        """Create records in one change; CREATE is refused where a set of records is."""
        changes = [
            {
                "Action": "CREATE",
                "ResourceRecordSet": {
                    "Name": record.name,
                    "Type": record.type,
                    "TTL": _TTL,
                    "ResourceRecords": [{"Value": _write(record)}],
                },
            }
            for record in records
        ]
        with operator_errors(_NAME):
            self._route53.change_resource_record_sets(
                HostedZoneId=zone.zone_id, ChangeBatch={"Changes": changes}
            )


def _write(record: DnsRecord) -> str:
    return f'"{record.value}"' if record.type == "TXT" else record.value


def _read(value: str) -> str:
    """A text's strings are one; a name loses its last dot."""
    strings = _STRING.findall(value)
    return "".join(strings) if strings else value.rstrip(".")
