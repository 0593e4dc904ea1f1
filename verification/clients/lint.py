# ruff: noqa: T201  a program that is run by hand prints its results
"""Lint the OpenAPI documents with Redocly and Spectral: `make lint-openapi`."""

import json
import re
import sys
from typing import Final

from openapi.of_keys import of_keys
from verification.clients.node import ROOT, WORK, install, tool

_WHOLE: Final = ROOT / "docs/openapi.json"
_OF_KEYS: Final = WORK / "openapi-keys.json"
DOCUMENTS: Final = (_WHOLE, _OF_KEYS, ROOT / "local/inbox/openapi.yaml")
#: The rule that is off takes a field named `default` in an example for a part of a schema. A unit
#: test compares every example with its schema.
_RULES: Final = 'extends: ["spectral:oas"]\nrules: {oas3-valid-schema-example: "off"}\n'


def main() -> int:
    """Return 1 if a linter warns."""
    install()
    rules = WORK / "spectral.yaml"
    rules.write_text(_RULES, encoding="utf-8")
    _OF_KEYS.write_text(json.dumps(of_keys(json.loads(_WHOLE.read_text(encoding="utf-8")))))
    warned = 0
    for document in DOCUMENTS:
        path = str(document)
        redocly = tool("redocly", "lint", "--extends", "recommended", path)
        spectral = tool(
            *("spectral", "lint", "--ruleset", str(rules), "--fail-severity", "error", path)
        )
        for name, said in (("redocly", redocly), ("spectral", spectral)):
            if re.search(r"\bwarnings?\b", said.replace("Deprecation warning", ""), re.IGNORECASE):
                print(said)
                warned += 1
            else:
                print(f"{document.name}: {name} has no warning")
    return int(bool(warned))


if __name__ == "__main__":
    sys.exit(main())
