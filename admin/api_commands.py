"""The commands that call the API: each is one operation of its document.

The document has their arguments, options and help. What no operator's key may do, such as create a
key that sends or read an email, is a command by hand.
"""

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple
from urllib.parse import quote, urlencode
from uuid import UUID

import typer

from admin.api import operator_api
from admin.confirm import confirm, require_yes
from admin.connection import Account, StackConnection, connected
from admin.progress import progress
from admin.times import HELP, parse_time
from pillarbox.wiring import utc_now

_DOCUMENT: Final = Path(__file__).parents[1] / "docs" / "openapi.json"
#: A format or a type of JSON -> what it is in Python; others are texts.
_TYPES: Final = {"boolean": bool, "integer": int, "uuid": UUID}
_TIME: Final = "date-time"
_ID: Final = "0199f0c2-7d1e-7a30-8c55-3f0e6a1b2c3d"
#: What examples have for the parameters of paths.
_EXAMPLES: Final = {
    "account_id": "qh4ybvcvbqzk",
    "address": "ann@example.com",
    "delivery_id": f"1767268802317-{_ID}",
    "endpoint_id": _ID,
    "sender": "hello@shop.example",
}


class _Input(NamedTuple):
    """A parameter or a field of an operation; its place is `path`, `query` or `body`."""

    place: str
    name: str
    schema: Any
    required: bool
    description: str
    example: Any

    @property
    def variable(self) -> str:
        """Its name in the function of the command, where `from` is none."""
        return f"{self.name}_"

    def sent(self, given: Any) -> Any:  # noqa: ANN401  what typer made of the words
        if self.schema.get("format") == _TIME:
            return parse_time(self.name, given, utc_now()).isoformat()
        if self.place == "body":
            return given
        return json.dumps(given) if isinstance(given, bool) else str(given)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiCommand:
    """How an operation is a command, where that does not follow from the document."""

    operation_id: str
    #: Fields that are arguments, as the parameters of the path are.
    arguments: tuple[str, ...] = ()
    #: A field or parameter -> its option, if that is not its name; None: the command has none.
    options: Mapping[str, str | None] = field(default_factory=dict)
    #: The values of fields that are not given.
    defaults: Mapping[str, object] = field(default_factory=dict)
    #: Whether the account is an argument, not an option.
    account_is_argument: bool = False
    #: The member of the answer that is a list, and what a table shows of it.
    items: str = "items"
    columns: tuple[str, ...] = ()
    #: Whether all pages are read, or the request is repeated until it is done.
    whole: bool = False
    #: What is asked first, with the parameters of the path.
    question: str = ""
    #: What stands below the answer.
    hint: str = ""

    def add_to(self, app: typer.Typer, noun: str, verb: str) -> None:
        def command(ctx: typer.Context, **given: Any) -> None:  # noqa: ANN401  as the document says
            self._run(ctx, given)

        described, inputs = self._described, [*self._inputs()]
        parameters = [_parameter("ctx", typer.Context), *map(self._parameter, inputs)]
        words = [word for one in inputs for word in self._words(one)]
        if {"$ref": "#/components/parameters/HeaderXAccount"} in described.get("parameters", ()):
            argument = Annotated[str, typer.Argument(metavar="ID", help="The account's id.")]
            hint = argument if self.account_is_argument else Account
            parameters.insert(1, _parameter("account", hint))
            words += [] if self.account_is_argument else ["--account"]
            words.append(_EXAMPLES["account_id"])
        if self.question:
            yes = Annotated[bool, typer.Option("--yes", help="Do it without asking.")]
            parameters.append(_parameter("yes", yes, default=False))
        command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        texts = described["description"].split("\n\n")
        told = [text for text in texts if not text.startswith("The key needs the permission")]
        example = shlex.join(["pillarbox", noun, verb, *words])
        command.__doc__ = "\n\n".join([f"{described['summary']}.", *told, f"Example: `{example}`"])
        app.command(verb)(command)

    @property
    def _described(self) -> Mapping[str, Any]:
        return _operations()[self.operation_id][2]

    def _inputs(self) -> Iterator[_Input]:
        for one in _inputs(self._described):
            is_of_page = one.place == "query" and one.name in {"cursor", "limit"}
            if self.options.get(one.name, "") is not None and not (self.whole and is_of_page):
                yield one

    def _is_argument(self, one: _Input) -> bool:
        return one.place == "path" or one.name in self.arguments

    def _option(self, one: _Input) -> str:
        kebab = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in one.name)
        return self.options.get(one.name) or f"--{kebab}"

    def _parameter(self, one: _Input) -> Parameter:
        hint, shown = _type_of(one.schema), dict[str, Any](help=one.description)
        if one.schema.get("format") == _TIME:
            shown = {"metavar": "TIME", "help": f"{one.description} {HELP}"}
        if hint is int:
            shown |= {"min": one.schema.get("minimum"), "max": one.schema.get("maximum")}
        info: Any = typer.Option(self._option(one), **shown)
        if self._is_argument(one):
            info = typer.Argument(metavar=one.name.upper(), **shown)
        if one.required and one.name not in self.defaults:
            return _parameter(one.variable, Annotated[hint, info])
        return _parameter(one.variable, Annotated[hint | None, info], default=None)

    def _words(self, one: _Input) -> Iterator[str]:
        for value in one.example if isinstance(one.example, list) else [one.example]:
            if value and not self._is_argument(one):
                yield self._option(one).partition("/")[0]
            if value and value is not True:
                yield str(value)

    def _run(self, ctx: typer.Context, given: Mapping[str, Any]) -> None:
        yes, account = given.get("yes", True), given.get("account")
        require_yes(ctx.obj, yes=yes)
        method, path, described = _operations()[self.operation_id]
        parts: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "body": {**self.defaults}}
        for one in self._inputs():
            if (value := given[one.variable]) is not None:
                parts[one.place][one.name] = one.sent(value)
        connection = connected(ctx)
        confirm(connection, self.question.format(**parts["path"]), yes=yes)
        quoted = {name: quote(text, safe="") for name, text in parts["path"].items()}
        permission = described["x-required-permission"]
        headers = {"X-Account": quote(account, safe="")} if account else None
        body = parts["body"] if "requestBody" in described else None
        with operator_api(connection, permission) as call:
            with progress("Asking the API"):
                answer = self._whole(
                    lambda query: call(
                        method,
                        f"{path.format(**quoted)}?{urlencode(query)}".removesuffix("?"),
                        body=body,
                        headers=headers,
                    ),
                    parts["query"],
                )
            # Before the key is deleted, which may fail: it may have a secret that is shown once.
            self._show(connection, answer, parts["path"])

    def _show(self, connection: StackConnection, answer: Any, path: Mapping[str, str]) -> None:  # noqa: ANN401  JSON
        if answer is None:
            shown = {name.rpartition("_")[2]: text for name, text in path.items()}
            connection.show({**shown, "removed": True})
        elif self.columns:
            connection.show_list(answer.pop(self.items), self.columns, answer)
            if cursor := answer.get("nextCursor"):
                connection.note(f"There are more: go on with --cursor {cursor}")
        else:
            connection.show(answer, hint=self.hint or None)

    def _whole(self, ask: Callable[[Mapping[str, object]], Any], query: dict[str, object]) -> Any:  # noqa: ANN401  JSON
        """Return the answer, with all pages of a list, or when all is done."""
        if not self.whole:
            return ask(query)
        query |= {
            one.name: one.schema["maximum"]
            for one in _inputs(self._described)
            if one.name == "limit"
        }
        answer = ask(query)
        while answer.get("done") is False:
            answer = ask(query)
        while cursor := answer.pop("nextCursor", None):
            rest = ask(query | {"cursor": cursor})
            answer = {**rest, "items": answer["items"] + rest["items"]}
        return answer


@cache
def _document() -> Any:  # noqa: ANN401  JSON
    return json.loads(_DOCUMENT.read_text("utf-8"))


@cache
def _operations() -> Mapping[str, tuple[str, str, Mapping[str, Any]]]:
    """Return the operations by their ids: the method, the path below /api, and the rest."""
    return {
        described["operationId"]: (method.upper(), path.removeprefix("/api"), described)
        for path, methods in _document()["paths"].items()
        for method, described in methods.items()
    }


def _inputs(described: Mapping[str, Any]) -> Iterator[_Input]:
    for one in map(_resolved, described.get("parameters", ())):
        if one["in"] != "header":
            place, name, schema = one["in"], one["name"], _resolved(one["schema"])
            example = _EXAMPLES.get(name)
            yield _Input(place, name, schema, one["required"], one["description"], example)
    if "requestBody" in described:
        body = described["requestBody"]["content"]["application/json"]
        schema, (example, *_) = _resolved(body["schema"]), body["examples"].values()
        for name, one in schema["properties"].items():
            is_required, shown = name in schema.get("required", ()), example["value"].get(name)
            yield _Input("body", name, _resolved(one), is_required, one["description"], shown)


def _resolved(schema: Any) -> Any:  # noqa: ANN401  JSON
    """Return a part of the document in place of its reference, or of a field that may be null."""
    if "anyOf" in schema:
        schema = schema["anyOf"][0]
    if "$ref" not in schema:
        return schema
    found = _document()
    for name in schema["$ref"].removeprefix("#/").split("/"):
        found = found[name]
    return _resolved(found)


def _type_of(schema: Any) -> Any:  # noqa: ANN401  a type, or a form of one
    schema = _resolved(schema)
    if schema.get("type") == "array":
        return list[_type_of(schema["items"])]  # type: ignore[misc]
    if values := schema.get("enum"):
        return StrEnum("Choice", [(value, value) for value in values])
    return _TYPES.get(schema.get("format", schema.get("type")), str)


def _parameter(name: str, hint: Any, default: object = Parameter.empty) -> Parameter:  # noqa: ANN401  as above
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=hint, default=default)
