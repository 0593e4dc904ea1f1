"""The documents are linked, and their links lead somewhere."""

import re
from functools import cache
from pathlib import Path
from typing import Final

from local.template import ROOT
from pillarbox.domain.accounts import account
from pillarbox.domain.messages import attachment, batch, header_text, idempotency, mail, message
from pillarbox.rendering import sandbox
from tests.pasted import is_record, pages

_LINK: Final = re.compile(r"\]\(([^)\s]+)\)")
_LAYER: Final = ROOT / "layers" / "shared" / "pillarbox"
_MODULE: Final = re.compile(r"`([a-z]\w*(?:/\w+)+\.py)`")


@cache
def _text(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def _links(page: Path) -> list[tuple[Path, str]]:
    """Return the file and the anchor of each link of a page into the repository."""
    found = []
    for link in _LINK.findall(_text(page)):
        if not re.match(r"[a-z]+:", link):
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            found.append((target / "README.md" if target.is_dir() else target, anchor))
    return found


def _anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", _text(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_reached_from_the_readme() -> None:
    reached, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        reached.add(page)
        waiting += [target for target, _ in _links(page) if target in pages() - reached]
    assert sorted(str(page.relative_to(ROOT)) for page in pages() - reached) == []


def test_every_link_leads_to_a_file_and_a_heading() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {target.name}#{anchor}"
        for page in sorted(pages())
        for target, anchor in _links(page)
        if not target.exists()
        or (anchor and target.suffix == ".md" and anchor not in _anchors(target))
    ]
    assert broken == []


def test_every_module_that_a_page_names_exists() -> None:
    missing = [
        f"{page.relative_to(ROOT)}: {name}"
        for page in sorted(pages())
        if not is_record(page)
        for name in _MODULE.findall(_text(page))
        if not any((root / name).exists() for root in (ROOT, _LAYER, page.parent))
    ]
    assert missing == []


def test_the_glossary_is_short_sorted_and_right() -> None:
    rows = re.findall(
        r"^\| (?!word|---)(.+?) \|.*\| (.+) \|$", _text(ROOT / "docs/glossary.md"), re.MULTILINE
    )
    words = [word for word, _ in rows]
    assert words == sorted(words)
    assert 0 < len(words) <= 25
    layer = ROOT / "layers/shared/pillarbox"
    paths = [path for _, where in rows for path in re.findall(r"`([\w./-]+[/.][\w./-]*)`", where)]
    assert [
        path for path in paths if not any((base / path).exists() for base in (ROOT, layer))
    ] == []


def test_the_table_of_limits_has_those_of_the_code() -> None:
    mib = 1024 * 1024
    files = attachment.MAX_BYTES_EACH // mib, attachment.MAX_BYTES_TOTAL // mib
    expected: dict[str, tuple[int, ...]] = {
        "recipients of an email (to, cc and bcc together)": (mail.MAX_RECIPIENTS,),
        "messages, recipients and domains of a batch": (
            batch.MAX_MESSAGES,
            batch.MAX_BATCH_RECIPIENTS,
            batch.MAX_DOMAINS,
        ),
        "attachments": (attachment.MAX_ATTACHMENTS, *files),
        "`html`, and a rendered template": (mail.MAX_HTML // mib, sandbox.MAX_BYTES // mib),
        "subject": (header_text.MAX_SUBJECT,),
        "tags": (message.MAX_TAGS, message.MAX_TAGS_BYTES),
        "`Idempotency-Key`": (idempotency.MAX_IDEMPOTENCY_KEY, 24),
        "an account": (
            account.MAX_KEYS,
            account.MAX_MEMBERS,
            account.MAX_TEMPLATES,
            account.MAX_DOMAINS,
            account.MAX_ENDPOINTS,
        ),
    }
    page = _text(ROOT / "docs/contract.md")
    rows = dict(re.findall(r"^\| (.+?) \| (.+) \|$", page, re.MULTILINE))
    stated = {name: re.findall(r"\d[\d,]*\b", rows[name]) for name in expected}
    assert {
        name: tuple(int(n.replace(",", "")) for n in stated[name]) for name in stated
    } == expected
