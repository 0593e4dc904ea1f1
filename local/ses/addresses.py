"""Reads address fields as SES does, with the errors that it returns for malformed ones."""

import re
from collections.abc import Iterator
from typing import Final

from local.ses.errors import bad_request

_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_DOMAIN: Final = re.compile(r"[A-Za-z0-9.-]*")
_IN_ANGLES: Final = re.compile(r"[^<>]*<([^<>]*)>[^<>]*")


def addresses_in(value: str) -> Iterator[str]:
    """Yield the addresses of an unfolded address field, without names and comments."""
    in_group = False
    for entry, separator in _entries(value):
        if separator == ":":
            if in_group:
                raise bad_request("Nested group")
            in_group = True
            continue
        if separator == ";" and not in_group:
            raise bad_request("Illegal semicolon, not in group")
        in_group = in_group and separator != ";"
        if entry:
            yield _bare(entry)


def check_address(address: str) -> None:
    """Check one bare address."""
    local, at, domain = address.rpartition("@")
    if not at or not domain:
        raise bad_request("Missing final '@domain'")
    if not address.isascii():
        raise bad_request("Address contains a non-ASCII character; SES does not support SMTPUTF8")
    if _QUOTED.fullmatch(local):
        local = "quoted"
    if not local or any(char <= " " or char == "\x7f" for char in local):
        raise bad_request("Local address contains control or whitespace")
    for part, name in ((domain, "Domain"), (local, "Local address")):
        if part.startswith("."):
            raise bad_request(f"{name} starts with dot")
        if part.endswith("."):
            raise bad_request(f"{name} ends with dot")
        if ".." in part:
            raise bad_request(f"{name} contains dot-dot")
    if not _DOMAIN.fullmatch(domain):
        raise bad_request("Domain contains illegal character")


def _entries(value: str) -> Iterator[tuple[str, str]]:
    """Yield what is between separators, each with the separator after it."""
    entry, in_angles = "", False
    for piece in _pieces(value):
        if piece in {",", ":", ";"} and in_angles:
            raise bad_request("Missing '>'")
        if piece in {",", ":", ";"}:
            yield entry.strip(), piece
            entry = ""
        else:
            in_angles = (in_angles or piece == "<") and piece != ">"
            entry += piece
    yield entry.strip(), ""


def _bare(entry: str) -> str:
    """Return the address of an entry: all of it, or what is between angle brackets."""
    unquoted = _QUOTED.sub("", entry) if "<" in entry else entry
    if "<" not in unquoted and ">" not in unquoted:
        return entry
    match = _IN_ANGLES.fullmatch(unquoted)
    if match is None:
        many = unquoted.count("<") > 1
        raise bad_request("Extra route-addr" if many else "Missing '<' or '>'")
    return match[1]


def _pieces(value: str) -> Iterator[str]:
    """Split a value into quoted strings and single characters, without comments."""
    position, depth = 0, 0
    while position < len(value):
        char = value[position]
        quoted = _QUOTED.match(value, position) if char == '"' and not depth else None
        if char == '"' and not depth and quoted is None:
            raise bad_request("Missing '\"'")
        depth += (char == "(") - (char == ")" and depth > 0)
        if quoted is not None or (not depth and char != ")"):
            yield quoted[0] if quoted else char
        position = quoted.end() if quoted else position + 1 + (char == "\\")
    if depth:
        raise bad_request("Missing ')'")
