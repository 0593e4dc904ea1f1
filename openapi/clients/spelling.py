"""How a language of the client packages spells the type of a schema."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from openapi.clients.operations import Schema, schema_name


@dataclass(frozen=True, slots=True)
class Language:
    """The words of a language for types."""

    scalars: Mapping[str, str]
    #: Spells the choice of some constants.
    literal: Callable[[Sequence[Any]], str]
    #: With {} in the place of the type of the items, or of the values.
    array: str
    mapping: str
    anything: str

    def type_of(self, schema: Schema, module: str = "") -> str:
        """Return the type of a schema; `module` is put before the names of types."""
        if "$ref" in schema:
            return f"{module}{schema_name(schema['$ref'])}"
        if "const" in schema or "enum" in schema:
            return self.literal(schema.get("enum") or [schema["const"]])
        kind = schema.get("type")
        if kind is None:
            return self._choice(schema.get("anyOf") or schema.get("oneOf") or (), module)
        if isinstance(kind, list):
            return self._choice([{**schema, "type": each} for each in kind], module)
        if kind == "array":
            return self.array.format(self.type_of(schema.get("items", {}), module))
        if kind == "object":
            values = schema.get("additionalProperties")
            of_values = self.type_of(values, module) if isinstance(values, dict) else self.anything
            return self.mapping.format(of_values)
        return self.scalars[kind]

    def _choice(self, schemas: Sequence[Schema], module: str) -> str:
        chosen = dict.fromkeys(self.type_of(each, module) for each in schemas)
        return " | ".join(chosen) or self.anything
