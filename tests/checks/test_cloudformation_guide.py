"""The guide about stacks: its table and its code agree with the types that the function knows."""

import re
from typing import Any, Final

from local import template
from openapi.guides import GUIDES
from pillarbox.http.cloudformation import TYPES, Resource, records_of
from pillarbox.http.wire import fields_of

_PAGE: Final = (GUIDES / "cloudformation.md").read_text(encoding="utf-8")
_STACK: Final[dict[str, Any]] = template.load(GUIDES / "code" / "cloudformation" / "shop.yaml")
_DOMAIN: Final = {
    "domain": "shop.example",
    "status": "verified",
    "mailFrom": "mail",
    "records": [
        {"purpose": purpose, "host": "h", "value": "v"}
        for purpose in ("OWNERSHIP", *["DKIM"] * 3, "MAIL FROM", "MAIL FROM SPF", "SPF", "DMARC")
    ],
}


def _properties_of(kind: Resource[Any]) -> dict[str, str]:
    """Return the type of the schema of each property: `default` is one that may be left out."""
    fields = fields_of(kind.properties).values()
    return {one.name[0].upper() + one.name[1:]: one.schema["type"] for one in fields}


def test_the_table_has_each_type_with_its_properties() -> None:
    rows = dict(re.findall(r"\| `(Custom::\w+)` \| (.*?) \|", _PAGE))
    assert rows.keys() == TYPES.keys()
    for name, kind in TYPES.items():
        required, _, optional = rows[name].partition(";")
        names = _properties_of(kind)
        assert {*re.findall(r"\w+", required)} == {n for n, t in names.items() if t != "default"}
        assert {*re.findall(r"\w+", optional)} == {n for n, t in names.items() if t == "default"}


def test_the_stack_has_properties_and_attributes_that_exist() -> None:
    ours = {
        name: TYPES[one["Type"]]
        for name, one in _STACK["Resources"].items()
        if one["Type"].startswith("Custom::")
    }
    assert len({*map(type, ours.values())}) == len(TYPES) - 1  # no account
    for name, kind in ours.items():
        assert {*_STACK["Resources"][name]["Properties"]} <= {*_properties_of(kind), "ServiceToken"}
    domain = records_of(_DOMAIN).keys()
    text = (GUIDES / "code" / "cloudformation" / "shop.yaml").read_text(encoding="utf-8")
    asked = re.findall(r"(?:!GetAtt |\$\{)(\w+)\.(\w+)", text)
    assert len(asked) > 10
    for name, attribute in asked:
        known = domain if "Domain" in name else {"SecretArn"}
        assert attribute in known, (name, attribute)
    assert domain <= {*re.findall(r"\w+", _PAGE)} | {
        *("Dkim1Value", "Dkim2Name", "Dkim2Value", "Dkim3Name", "SpfValue", "DmarcValue")
    }
