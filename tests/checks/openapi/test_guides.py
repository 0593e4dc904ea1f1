"""docs/guides shows the code that the tests run, and nothing that a reader cannot open."""

import re
from pathlib import Path

from openapi.document import document
from openapi.guides import GUIDES, files_of, with_code
from tests.loops import for_each

ROOT = GUIDES.parents[1]
_DOCUMENT = document()
PAGES = sorted(GUIDES.glob("*.md"))
every_page = for_each("page", PAGES)


@every_page
def test_a_guide_shows_the_files_that_are_tested(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert with_code(text) == text
    assert len(files_of(text)) == text.count("<!-- code/")


def test_a_stale_block_is_replaced() -> None:
    page = "a\n<!-- code/node/with_client.mjs -->\n```js\nold\n```\nb\n```sh\nrun\n```\n"
    code = (GUIDES / "code/node/with_client.mjs").read_text(encoding="utf-8")
    assert with_code(page) == page.replace("old\n", code)


def test_every_file_of_code_is_in_a_guide() -> None:
    shown = {name for page in PAGES for name in files_of(page.read_text(encoding="utf-8"))}
    files = (GUIDES / "code").rglob("*.*")
    assert shown == {str(file.relative_to(GUIDES)) for file in files if "__pyc" not in str(file)}


@every_page
def test_links_of_a_guide_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_the_index_lists_every_guide() -> None:
    index = (GUIDES / "README.md").read_text(encoding="utf-8")
    assert {page.name for page in PAGES} - {"README.md"} == set(re.findall(r"\((\w+\.md)\)", index))
    assert "docs/guides/README.md" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_each_guide_has_idempotency_keys_of_its_own() -> None:
    """No two guides name one invoice, so the second one that a reader tries is sent too."""
    shown = [set(re.findall(r"INV-\d+", p.read_text())) for p in PAGES if p.stem != "README"]
    assert sum(map(len, shown)) == len(set().union(*shown)) >= 5


@for_each("name", ["resend", "postmark", "ses"])
def test_a_table_of_fields_names_fields_of_the_api(name: str) -> None:
    schemas = _DOCUMENT["components"]["schemas"]
    known = schemas["SendEmailRequest"]["properties"] | schemas["Attachment"]["properties"]
    page = (GUIDES / f"{name}.md").read_text(encoding="utf-8")
    table = page.partition("## Fields\n")[2].partition("\n## ")[0]
    columns = [row.split("|")[2] for row in table.splitlines() if row.startswith("| `")]
    shown = re.findall(r"`(?:attachments\[\])?\.?([a-zA-Z]+)(?:: \w+)?`", " ".join(columns))
    assert len(shown) > 10
    assert set(shown) <= known.keys()
