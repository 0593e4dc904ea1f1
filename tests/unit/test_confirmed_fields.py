"""What a person confirms has a place for each field of a mail."""

import json
from dataclasses import fields, replace
from types import SimpleNamespace
from typing import Any, Final
from unittest import mock

from pillarbox.application.sending.rehearsal import rehearsal_of
from pillarbox.domain.messages.attachment import Attachment
from pillarbox.domain.messages.mail import HtmlBody, Mail
from pillarbox.http.mcp.sending import _shown, _shown_batch
from pillarbox.http.messages.views import HeldContent
from tests.fakes.builders import NOW, message

#: A value of each field, and the word in it that a person must see.
_FIELDS: Final[dict[str, tuple[Any, str]]] = {
    "sender": ("sender@a.example", "sender@a.example"),
    "from_name": ("Head of Finance", "Head of Finance"),
    "to": (("to@a.example",), "to@a.example"),
    "cc": (("cc@a.example",), "cc@a.example"),
    "bcc": (("bcc@a.example",), "bcc@a.example"),
    "reply_to": (("mallory@evil.example",), "mallory@evil.example"),
    "subject": ("The subject", "The subject"),
    "body": (HtmlBody(html="<p>one</p>" + "<p>two</p>" * 30 + "<p>the end</p>"), "the end"),
    "names": ({"to@a.example": "Ann", "mallory@evil.example": "The boss"}, "The boss"),
    "text": ("A text" + "\nmore" * 30 + "\nof its own", "of its own"),
    "headers": ({"X-Odd": "odd value"}, "odd value"),
    "attachments": (
        (Attachment(filename="bill.pdf", content_type="application/pdf", content="eA=="),),
        "bill.pdf",
    ),
    "uploads": ((SimpleNamespace(filename="big.zip", content_type="a/b", size=7),), "big.zip"),
    "reply_domain": ("in.shop.example", "an address at in.shop.example"),
}


def _mail() -> Mail:
    return Mail(**{name: value for name, (value, _) in _FIELDS.items()})


def test_each_field_is_known() -> None:
    """A new field of a mail needs a word here, and so a place in what is confirmed."""
    assert {one.name for one in fields(Mail)} == _FIELDS.keys()


def test_the_question_and_the_held_view_have_each_field() -> None:
    """Of one email, of a batch, and what an owner reads before a release."""
    for view, words in _views(_mail()).items():
        for name, (_, word) in _FIELDS.items():
            # Replies go where the sender wants them.
            assert (word in words) is (name != "reply_domain"), (view, name)


def test_the_question_and_the_held_view_say_that_replies_come_back() -> None:
    """An email without an address for replies gets one of the account."""
    for view, words in _views(replace(_mail(), reply_to=())).items():
        assert _FIELDS["reply_domain"][1] in words, view


def test_a_long_text_says_how_much_is_left_out() -> None:
    """200 lines are shown, and the number of the others."""
    body = HtmlBody(html="".join(f"<p>line {number}</p>" for number in range(300)))
    prepared: Any = mock.Mock(mail=Mail(**{**_values(), "body": body}), message=message())
    words = _shown(prepared).words
    assert "> line 199\n… and 100 lines more" in words
    assert "line 200" not in words


def _views(mail: Mail) -> dict[str, str]:
    prepared: Any = mock.Mock(mail=mail, message=message())
    return {
        "question": _shown(prepared).words,
        "batch": _shown_batch({0: prepared}).words,
        "held": json.dumps(HeldContent.of(rehearsal_of(mail, NOW))),
    }


def _values() -> dict[str, Any]:
    return {name: value for name, (value, _) in _FIELDS.items()}
