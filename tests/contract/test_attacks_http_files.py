"""Bad input and attacks over HTTP, 55 to 70: files, idempotency keys, quotas, sizes."""

import io
import zipfile
from collections.abc import Callable
from datetime import timedelta

import pytest

from pillarbox import wiring
from pillarbox.domain.accounts.quota import Limits
from tests.contract.bodies import TO, attachment, otp
from tests.contract.client import Api
from tests.contract.service import Service


def test_55_eleven_attachments(live: Api) -> None:
    """55: eleven attachments are 400 too_many_attachments, as are a hundred thousand."""
    assert live.send(otp(attachments=[attachment()] * 11)).code == "too_many_attachments"
    assert live.send(otp(attachments=[attachment()] * 20_000)).code == "too_many_attachments"


def test_56_files_one_byte_too_large(live: Api) -> None:
    """56: 5 MB + 1 byte is too large for one file, and 10 MB + 1 byte for all."""
    five = 5 * 1024 * 1024
    alone = live.send(otp(attachments=[attachment(b"x" * (five + 1))]))
    assert alone.error["details"]["scope"] == "per_attachment"
    together = [attachment(b"x" * five), attachment(b"x" * five), attachment(b"x")]
    assert live.send(otp(attachments=together)).error["details"]["scope"] == "total"


@pytest.mark.parametrize(
    "content", ["_-8=", "YQ", "YQ=", "Y Q==", "YQ==\n", "\nYQ==", "YQ==YQ==", "=", "====", "é==="]
)
def test_57_other_alphabets_white_space_and_padding(live: Api, content: str) -> None:
    """57: base64url, white space and missing padding are 422."""
    response = live.send(otp(attachments=[attachment(content=content)]))
    assert response.errors == {"attachments.0.content": "invalid_base64"}


@pytest.mark.parametrize("content", ["YR==", "YWJ="])
def test_58_trailing_bits(live: Api, content: str) -> None:
    """58: base64 whose trailing bits are not zero is 422."""
    response = live.send(otp(attachments=[attachment(content=content)]))
    assert response.errors == {"attachments.0.content": "invalid_base64"}


@pytest.mark.parametrize(
    "content_type",
    [
        "application/octet-stream",
        "text/plain; charset=utf-8",
        "text/plain\r\nX: y",
        " text/plain",
        "text/plain ",
        "é" * 10_000,
    ],
)
def test_59_types_that_are_not_allowed_or_have_parameters(live: Api, content_type: str) -> None:
    """59: octet-stream, or a type with parameters, is 400 attachment_type_not_allowed."""
    response = live.send(otp(attachments=[attachment(contentType=content_type)]))
    assert (response.status, response.code) == (400, "attachment_type_not_allowed")
    assert len(response.text) < 10_000


def test_59_types_are_case_insensitive(live: Api) -> None:
    """59, notes: content types compare case-insensitively."""
    assert live.send(otp(attachments=[attachment(contentType="Application/PDF")])).status == 200


@pytest.mark.parametrize("data", [b"MZ", b"MZ\x90\x00", b"\x7fELF", b"\x7fELF\x02\x01"])
def test_60_programs_with_another_type(live: Api, data: bytes) -> None:
    """60: MZ and ELF bytes are refused with any content type."""
    response = live.send(otp(attachments=[attachment(data, contentType="image/png")]))
    assert (response.status, response.code) == (400, "attachment_type_not_allowed")


@pytest.mark.parametrize("name", ["a.exe", "a.pdf.JS", "run.bat", "x.lnk", "y.Hta", "a.ｅｘｅ"])  # noqa: RUF001
def test_60_extensions_that_ses_refuses(live: Api, name: str) -> None:
    """60: a file whose extension SES refuses is 400 attachment_type_not_allowed."""
    response = live.send(otp(attachments=[attachment(filename=name)]))
    assert (response.status, response.code) == (400, "attachment_type_not_allowed")


@pytest.mark.parametrize("field", ["subject", "fromName", "brandName"])
@pytest.mark.parametrize("text", ["\u200b", " ", "\u3164\u200d"])
def test_46_invisible_names(live: Api, field: str, text: str) -> None:
    """46: a name or subject that shows nothing is 422."""
    assert live.send(otp(**{field: text})).errors == {field: "invisible"}


@pytest.mark.parametrize("data", [b"", b"M", b"\x7fEL", b"%PDF-1.7", b"GIF89a"])
def test_60_other_mismatches_pass(live: Api, data: bytes) -> None:
    """60: other bytes that do not match their content type are accepted."""
    assert live.send(otp(attachments=[attachment(data, contentType="image/png")])).status == 200


def test_61_a_zip_bomb_is_never_unpacked(live: Api) -> None:
    """61: a docx that would unpack to 100 MB is accepted unopened."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"\0" * 100_000_000)
    docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    file = attachment(packed.getvalue(), contentType=docx, filename="a.docx")
    assert live.send(otp(attachments=[file])).status == 200


@pytest.mark.parametrize(
    ("filename", "code"),
    [
        ("../x", "invalid_filename"),
        ("a/b", "invalid_filename"),
        ("..\\x", "invalid_filename"),
        ("a\x00.pdf", "control_character"),
        ("x" * 256, "too_long"),
        ("", "too_short"),
        ("..", "invalid_filename"),
        ("CON", "invalid_filename"),
        ("NUL.txt", "invalid_filename"),
        ("a:b", "invalid_filename"),
        ("a.exe.", "invalid_filename"),
        ("a\u200b.pdf", "invalid_filename"),
        ("a\u202efdp.exe", "control_character"),
    ],
)
def test_62_filenames(live: Api, filename: str, code: str) -> None:
    """62: paths, devices, invisible characters, trailing dots, NUL and 256 characters are 422."""
    response = live.send(otp(attachments=[attachment(filename=filename)]))
    assert response.errors == {"attachments.0.filename": code}


@pytest.mark.parametrize("content_id", ["<logo>", "a b", "a\tb", "ä", "a\r\nb", "x" * 256])
def test_63_content_ids(live: Api, content_id: str) -> None:
    """63: angle brackets, white space and other characters are 422."""
    response = live.send(otp(attachments=[attachment(inline=True, contentId=content_id)]))
    assert list(response.errors) == ["attachments.0.contentId"]


def test_63_content_ids_are_unique(live: Api) -> None:
    """63: two attachments with the same contentId are 422."""
    picture = attachment(inline=True, contentId="logo", contentType="image/png")
    assert live.send(otp(attachments=[picture, picture])).errors == {"attachments": "duplicate"}


def test_66_twenty_requests_with_one_key_are_one_send(service: Service) -> None:
    """66, sequentially: twenty requests with one key create one message."""
    account = service.account()
    api = Api(service.key(account))
    responses = {api.send(otp(), idempotency_key="k").text for _ in range(20)}
    assert len(responses) == 1
    assert len(service.messages(account)) == 1


def test_67_reordered_and_changed_json(live: Api) -> None:
    """67: reordered JSON is a replay; a changed value is 409 idempotency_key_mismatch."""
    body = otp(cc=["a@b.example", "c@d.example"])
    first = live.send(body, idempotency_key="k")
    turned = dict(reversed(body.items()))
    assert live.send(turned, idempotency_key="k").text == first.text
    for change in ({"cc": body["cc"][::-1]}, {"fromName": "x"}, {"to": [TO]}):
        response = live.send(body | change, idempotency_key="k")
        assert (response.status, response.code) == (409, "idempotency_key_mismatch")


def test_68_a_refused_request_corrected(live: Api) -> None:
    """68: after a 400, the corrected body with the same key is 200."""
    assert live.send(otp(to="nobody"), idempotency_key="k").status == 400
    assert live.send(otp(), idempotency_key="k").status == 200


def test_69_a_day_and_a_second_later(service: Service) -> None:
    """69: 24 h + 1 s later the key is new, although its item still exists."""
    account = service.account()
    api = Api(service.key(account))
    first = api.send(otp(), idempotency_key="k")
    with service.at(wiring.utc_now() + timedelta(hours=23, minutes=59)):
        assert api.send(otp(), idempotency_key="k").text == first.text
    assert len(service.claim_items(account)) == 1
    with service.at(wiring.utc_now() + timedelta(hours=24, seconds=1)):
        again = api.send(otp(), idempotency_key="k")
    assert again.status == 200
    assert again.json["messageId"] != first.json["messageId"]
    assert "idempotent-replay" not in again.headers


def test_70_the_last_unit_of_a_quota(service: Service) -> None:
    """70, sequentially: with one unit left there is one 200, then 429 without Retry-After."""
    api = service.live(limits=Limits(per_minute=1, per_day=9, per_month=9))
    with service.at(wiring.utc_now()):
        responses = [api.send(otp()) for _ in range(10)]
    assert [response.status for response in responses] == [200] + [429] * 9
    assert not any("retry-after" in response.headers for response in responses)


LARGE: dict[str, Callable[[], object]] = {
    "recipients": lambda: otp(to=[1] * 300_000),
    "attachments": lambda: otp(attachments=[{}] * 100_000),
    "fields": lambda: {f"f{n}": n for n in range(100_000)},
    "name": lambda: {"é" * 1_000_000: 1},
    "address": lambda: otp(to="é" * 1_000_000),
}


@pytest.mark.parametrize("kind", LARGE)
def test_a_large_refused_request_gets_a_small_response(live: Api, kind: str) -> None:
    """Not on the list: a response has at most 6 MB, so an error does not repeat the request."""
    response = live.send(LARGE[kind]())
    assert response.status in {400, 422}
    assert len(response.text) < 20_000
