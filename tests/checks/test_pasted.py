"""What people paste is in a list: it is run, checked here, or it says why not."""

import ast
import importlib.util
import json
import re
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import typer.main
import yaml
from typer import BadParameter

from admin.main import app
from admin.use_cases.provision_file import parse_yaml, read_provision_file
from openapi.document import document
from pillarbox.http.routes import ROUTES
from pillarbox.rendering.template_check import check_template
from tests.edge_function import CODE
from tests.pasted import (
    LISTED,
    NOT_RUN,
    ON_AWS,
    REHEARSED,
    RUN,
    SHELL,
    Block,
    blocks,
    is_one_of,
    operator_words,
    pages,
    programs_of,
)
from tests.stack import ROOT

#: Where commands and programs are made that are shown elsewhere than in pages.
PRINTERS: Final = {"admin/first_email.py", "dashboard/src/command.ts", "local/banner.py"}


def test_every_block_is_run_checked_or_listed() -> None:
    faults = []
    for block in blocks():
        try:
            _check(block)
        except Exception as error:  # noqa: BLE001  all are reported
            faults.append(f"{block.place}: {type(error).__name__}: {error}")
    assert not faults, "\n".join(faults)
    assert len(blocks()) > 150


def test_the_lists_have_nothing_that_is_gone() -> None:
    commands = [command for block in blocks() for command in block.commands]
    words = {words[0] for command in commands for words in programs_of(command)}
    assert words >= NOT_RUN.keys() | (RUN | SHELL)
    operators = [operator_words(command) for command in commands]
    for name, file in ON_AWS.items():
        assert name.split()[0] in (ROOT / "tests" / file).read_text()
        assert any(is_one_of([name], words) for words in operators), name
    assert all(any(is_one_of([name], words) for words in operators) for name in REHEARSED)
    assert [one for one in LISTED if not any(b.text.startswith(one) for b in blocks())] == []


def test_every_example_of_the_command_is_one_that_it_takes() -> None:
    """Each command's help has one whose subcommand and options exist, and so have other texts."""
    examples = [example for command in _commands(_command()) for example in _examples(command)]
    assert len(examples) > 50
    folders = ("admin", "layers", "local", "openapi", "relay")
    code = (file for folder in folders for file in (ROOT / folder).rglob("*.py"))
    files = [*code, *(page for page in pages() if page.name != "CHANGELOG.md")]
    named = [
        one
        for file in files
        for one in re.findall(r"`(?:\.venv/bin/)?((?:pillarbox|pb) [^`{}…]+)`", file.read_text())
    ]
    assert len(named) > len(examples)
    for example in named:
        try:
            _check_command(re.sub(r"\s+", " ", example))
        except BadParameter as error:
            # A sentence names the command alone.
            if not re.search("Missing parameter|account list|valid UUID", str(error)):
                raise
    for example in examples:
        _check_command(example)


def test_no_other_file_prints_a_curl_line() -> None:
    """Each file that makes a line for curl is one whose lines tests/e2e/test_pasted.py runs."""
    folders = ("admin", "dashboard/src", "functions", "layers", "local", "openapi", "packages")
    files = (file for folder in folders for file in (ROOT / folder).rglob("*.*"))
    code = [file for file in files if file.suffix in {".py", ".ts", ".tsx", ".js"}]
    found = {
        str(file.relative_to(ROOT)) for file in code if re.search(r"curl \$?\{", file.read_text())
    }
    assert found == PRINTERS


def test_every_route_is_named_whole() -> None:
    """Each route in a text of the reference and of the edge exists, and begins with /api.

    So does each in a page, but in the contract, whose words are not ours.
    """
    texts = [*_texts(document()), CODE]
    assert len(texts) > 1000
    for text in texts:
        for path in re.findall(r"\b(?:GET|POST|PUT|PATCH|DELETE) (/[^\s`'\",;)]*)", text):
            assert path.removeprefix("/api").rstrip(".") in ROUTES, text
            assert path.startswith("/api/"), text
    for page in pages():
        found = re.search(r"\b(?:GET|POST|PUT|PATCH|DELETE) /v1/", page.read_text())
        assert not found or page.name == "contract.md", page


def _check(block: Block) -> None:
    if block.listed:
        return
    if block.file:
        name = Path(block.file).name
        named = (name, f'"{name.removesuffix(".py")}"')
        assert any(each in text for file, text in _runners() if file != name for each in named)
        return
    commands = block.commands
    for command in commands:
        _check_command(command)
    if not commands:
        assert block.language in CHECKS, "it is neither run nor in a list of tests/pasted.py"
        CHECKS[block.language](block.text)


@cache
def _runners() -> list[tuple[str, str]]:
    """Return the names and texts of what runs the code of the guides, and of that code itself."""
    folders = ("docs/guides/code", "tests/integration/guides", "verification/clients")
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.*")]
    files.append(ROOT / "tests/checks/test_cloudformation_guide.py")
    return [(file.name, file.read_text()) for file in files if file.suffix != ".pyc"]


def _check_command(command: str) -> None:
    for program, *arguments in programs_of(command):
        _check_program(program, arguments)


def _check_program(program: str, arguments: list[str]) -> None:
    match program:
        case "pillarbox" | "pb" | ".venv/bin/pillarbox":
            _parse(arguments)
        case "make":
            makefile = (ROOT / "Makefile").read_text()
            for target in (word for word in arguments if "=" not in word):
                assert re.search(rf"(?m)^{target}:", makefile), target
        case ".venv/bin/pytest":
            for path in (word for word in arguments if "/" in word):
                assert (ROOT / path).exists(), path
        case ".venv/bin/python":
            assert importlib.util.find_spec(arguments[arguments.index("-m") + 1])
        case "pytest":
            pass
        case "pip" | "npm":
            assert (ROOT / arguments[-1].removeprefix("CLONE/")).is_dir()
        case _:
            assert program in RUN | SHELL | NOT_RUN.keys(), (
                f"{program} is in no list of tests/pasted.py"
            )


def _check_yaml(text: str) -> None:
    yaml.compose(text)
    if "\naccounts:" in text:
        read_provision_file(parse_yaml(text))


def _check_new_lines(text: str) -> None:
    ast.parse("\n".join(line[1:] for line in text.splitlines() if line[0] == "+"))


#: The language of a block that is no command -> what refuses a wrong one.
CHECKS: Final[dict[str, Callable[[str], Any]]] = {
    "json": json.loads,
    "yaml": _check_yaml,
    "toml": tomllib.loads,
    "html": lambda text: check_template("Subject", text),
    "diff": _check_new_lines,
    "python": lambda text: compile(text, "", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT),
    # tests/e2e/test_pasted.py has them checked by their languages.
    **dict.fromkeys(("js", "php", "ruby", "go"), lambda _: None),
}


@cache
def _command() -> Any:
    """Return the command; typer has its own copy of click's types, which it does not export."""
    return typer.main.get_command(app)


def _parse(arguments: list[str]) -> None:
    """Parse a command line as the command does, without running it."""
    command, context = _command(), None
    while hasattr(command, "commands"):
        if not arguments:  # a sentence names a group
            return
        context = command.make_context("pillarbox", list(arguments), parent=context)
        words = [*context._protected_args, *context.args]
        _, command, arguments = command.resolve_command(context, words)
    try:
        command.make_context(command.name, list(arguments), parent=context)
    except BadParameter as error:
        if not re.search("does not exist|No such file", str(error)):  # those of the reader
            raise


def _commands(command: Any) -> Iterator[Any]:
    for each in command.commands.values():
        yield from _commands(each) if hasattr(each, "commands") else [each]


def _examples(command: Any) -> list[str]:
    examples = re.findall(r"Example: `([^`]+)`", command.help or "")
    assert examples, command.name
    return [example for example in examples if example.startswith("pillarbox ")]


def _texts(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict | list):
        for each in node.values() if isinstance(node, dict) else node:
            yield from _texts(each)
