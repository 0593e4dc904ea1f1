"""What the project shows for people to paste: the blocks of its pages, and the commands in them."""

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt

from local.template import ROOT

#: How a text begins that is no command and no program of its own -> what it is, or what runs it.
LISTED: Final[Mapping[str, str]] = {
    "area: what changes": "the form of a commit message",
    "src/main.tsx, app.tsx": "a table of folders",
    "template.yaml  ": "a table of folders",
    "table stream ─▶": "a picture",
    "flowchart ": "a picture",
    "mail/2026/": "the name of an object",
    "550-5.1.2 <y@": "a reply of the relay",
    "RateLimit-Policy: ": "fields of a response",
    "WidgetOrigins=": "a parameter of a deployment",
    "<script src=": "tests/browser/test_widget.py loads the script so",
    "logs() {": "reads logs of CloudWatch",
    "relayhost = ": "tests/relay/test_mail_servers.py sends with it",
    "primary_hostname = ": "a configuration of Exim",
    "table secrets file:": "a configuration of OpenSMTPD",
    "[smtp.example.com]:587 ": "tests/relay/test_mail_servers.py sends with it",
    "smtp.example.com smtp ": "a configuration of Nullmailer",
    "defaults\nhost ": "tests/relay/test_mail_servers.py sends with it",
    "[sendemail]": "a configuration of Git",
    "MAILERS = {": "tests/relay/test_documented.py sends with it",
    "EMAIL_HOST, ": "tests/relay/test_documented.py sends with it",
    "app.config.update(": "tests/relay/test_documented.py sends with it",
    "with smtplib.SMTP(": "tests/relay/test_documented.py sends with it",
}
#: A program -> why no test runs it.
NOT_RUN: Final[Mapping[str, str]] = {
    "aws": "needs AWS",
    "claude": "a program of others, which needs an account there",
    "docker": "needs Docker",
    "tail": "reads until it is stopped",
    ".venv-sam/bin/sam": "needs Docker",
    "uv": "installs a program for its user",
}
#: A command of an operator that the local stack cannot run -> the test that runs one like it.
ON_AWS: Final[Mapping[str, str]] = {
    "account isolation --all": "integration/admin/test_admin_account_commands.py",  # all accounts
    "apply": "e2e/test_pasted.py",  # the file of the page names secrets of AWS
    "deploy": "integration/admin/test_admin_deploy.py",
    "domain add --route53": "integration/admin/test_admin_domain_commands.py",
    "edge rotate": "integration/admin/test_admin_edge.py",
    "relay certificate": "integration/admin/test_admin_relay.py",
    "relay image": "integration/admin/test_admin_relay.py",
    "teardown": "integration/admin/test_admin_teardown.py",
}
#: What is run on the local stack with --dry-run, which works on an example of a deployed one.
REHEARSED: Final = ("alarms subscribe", "restore rows", "restore stack")
#: The programs that a test runs on the local stack.
RUN: Final = frozenset({"curl", "python", "node", "go"})
#: Words of a shell, and programs that read what another one writes.
SHELL: Final = frozenset({".", "export", "alias", "grep", "jq", "rm", "xargs"})
#: What a command has that only AWS or Docker can answer.
ELSEWHERE: Final = ("s3://", "127.0.0.1:3000/v1/")

_COMMENT: Final = re.compile(r"<!-- (code/\S+) -->")
_SETTING: Final = re.compile(r"[A-Z_]+=")
_SHELLS: Final = frozenset({"sh", "console", "indented"})


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code of a page; `file` is the file of docs/guides/code that it shows, or empty."""

    place: str
    language: str
    text: str
    file: str

    @property
    def listed(self) -> bool:
        """Whether the list says what it is."""
        return self.text.startswith(tuple(LISTED))

    @property
    def commands(self) -> list[str]:
        """What it gives to a shell: in a diff the new lines, in a terminal what follows `$`."""
        if self.file or self.listed:
            return []
        if self.language in _SHELLS or (not self.language and self.text.startswith("$ ")):
            return list(_commands(self.text.splitlines()))
        if self.language == "diff" and "\n+curl " in self.text:
            return list(_commands([line[1:] for line in self.text.splitlines() if line[0] != "-"]))
        return []


@cache
def pages() -> frozenset[Path]:
    """Return the Markdown files of the repository that are written for readers."""
    # Only these folders, because others have installed packages with pages of their own.
    deep = [f"{name}/**/*.md" for name in ("benchmarks", "docs", "layers/shared/pillarbox")]
    patterns = ["*.md", "[a-z]*/*.md", "packages/*/*.md", *deep]
    return frozenset(page for pattern in patterns for page in ROOT.glob(pattern))


def is_record(page: Path) -> bool:
    """Whether a page says what was measured, and how."""
    return page.is_relative_to(ROOT / "benchmarks")


@cache
def blocks() -> tuple[Block, ...]:
    """Return every block of code of every page, but not of the records of measurements."""
    return tuple(
        block for page in sorted(pages()) if not is_record(page) for block in _blocks(page)
    )


def programs_of(command: str) -> list[list[str]]:
    """Return the words of each program of a command, without variables and redirections."""
    lexer = shlex.shlex(command.replace("\\\n", " "), posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    programs, is_file = [list[str]()], False
    for word in lexer:
        if set(word) <= {*"|&;"}:
            programs.append([])
        elif not is_file and word not in {"<", ">"} and (programs[-1] or not _SETTING.match(word)):
            programs[-1].append(word)
        is_file = word in {"<", ">"}
    return [words for words in programs if words]


def operator_words(command: str) -> list[str]:
    """Return the words of a command of an operator, without the name and the global options."""
    (program, *words), *_ = programs_of(command)
    is_operators = program.rpartition("/")[2] in {"pillarbox", "pb"}
    return [word for word in words if word not in {"--local", "--json"}] if is_operators else []


def is_one_of(names: Iterable[str], words: list[str]) -> bool:
    """Whether an operator's words have all those of one of the names."""
    return any({*name.split()} <= {*words} for name in names)


def _blocks(page: Path) -> Iterator[Block]:
    tokens = MarkdownIt().parse(page.read_text(encoding="utf-8"))
    for before, token in pairwise([tokens[0], *tokens]):
        if token.type in {"fence", "code_block"}:
            line = token.map[0] + 1 if token.map else 0
            named = _COMMENT.match(before.content) if before.type == "html_block" else None
            language = token.info.strip() if token.type == "fence" else "indented"
            place = f"{page.relative_to(ROOT)}:{line}"
            yield Block(place, language, token.content, named[1] if named else "")


def _commands(lines: list[str]) -> Iterator[str]:
    is_terminal = lines[0].startswith("$ ")
    waiting = ""
    for line in lines:
        if not waiting and is_terminal != line.startswith("$ "):
            continue  # what the command before prints
        if not waiting and _is_json(line):
            continue
        waiting += line.removeprefix("$ ") + "\n"
        if _is_whole(waiting):
            if programs_of(waiting):
                yield waiting.strip()
            waiting = ""
    assert not waiting, f"a command does not end: {waiting}"


def _is_whole(command: str) -> bool:
    with suppress(ValueError):
        shlex.split(command, comments=True)
        return not command.rstrip().endswith(("\\", "|"))
    return False


def _is_json(line: str) -> bool:
    with suppress(ValueError):
        return isinstance(json.loads(line), dict)
    return False
