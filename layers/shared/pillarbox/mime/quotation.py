"""Find what somebody wrote in an answer: its text without the quotation and the signature.

Mail programs mark a quotation in four ways: with `>` before each line, by a line that says who
wrote when, by a line of hyphens or underscores, or by a copy of some header fields. Languages
matter as little as possible: a line that has a time or an address, and a colon at its end, says in
any words who wrote what follows with `>`. Where nothing marks the lines, more must be there.

No line is read more than a few times, and of a long line only the start, so the time is linear.
When in doubt, text stays.
"""

# ruff: noqa: RUF001  words of many languages, which are compared in lower case

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final

#: A line is judged by its start: names and addresses are shorter.
_JUDGED: Final = 400
#: Programs fold the line that says who wrote at 72 to 80 columns.
_MOST_FOLDED: Final = 4
#: A quoted line of so many characters that ends within a sentence may have been folded by a
#: program that sets no `>`.
_FOLDED_AT: Final = 66
#: Begins a signature (RFC 3676 section 4.3). Without the blank, two hyphens begin one if they
#: stand alone and one block of so many lines at most is all that follows.
_SIGNATURE: Final = "-- "
_MOST_OF_SIGNATURE: Final = 12

_ADDRESS: Final = re.compile(r"[^\s<>@]@[^\s<>@]+\.[^\s<>@]")
_IN_BRACKETS: Final = re.compile(r"[<(\[]\s*(?:mailto:)?[^\s<>@]+@[^\s<>@]+\.[^\s<>@]+\s*[>)\]]")
_TIME: Final = re.compile(
    r"\d{1,2}[:.h]\d\d(?!\d)|\d{4}\s?[-/.年년]|\d{1,2}[./-]\w{1,4}\.?[./-]\d{2,4}"
    r"|\b\d{1,2}\.?\s(?:de\s)?\w+\.?\s(?:de\s)?\d{4}"
)
#: Says in some languages that somebody wrote, where the line ends.
_WROTE: Final = (
    r"(?:\b(?:wrote|schrieb|geschrieben|schreef|geschreven|escribió|escreveu|skrev|napsal"
    r"|napisał(?:\(a\))?|yazdı|пишет|писал|написала?|написал\(а\)|a écrit|ha scritto|kirjoitti)"
    r"|写道|寫道|のメール|書きました|작성)"
)
_SAYS: Final = re.compile(rf"{_WROTE}\s*[:：]|\b(?:schrieb|schreef|skrev|napsal)\b.*[:：]$")
_ENDS: Final = re.compile(rf"(?:[:：]|{_WROTE})$")
_DASHED: Final = re.compile(r"(-{3,}|_{10,}|={4,})(?:\s*(\S.*?)\s*-{3,})?")
_ORIGINAL: Final = re.compile(
    r"original|originale|ursprüngliche|ursprungligt|oprindelig|opprinnelig|origine|oorspronkelijk"
    r"|oryginaln|исходное|оригинал|原始|özgün|orijinal"
)
_FORWARDED: Final = re.compile(
    r"forward|weitergeleitet|transféré|reenviad|encaminhad|inoltrat|doorgestuurd|vidarebefordrat"
    r"|videresendt|пересыла|iletilen|转发|転送"
)
_LABEL: Final = re.compile(r"[*\s]{0,4}([^\W\d]+(?: [^\W\d]+)?)\*?\s?[:：]\*?[ \t]*(\S?.*)")

_FROM, _SENT, _TO, _ABOUT = range(4)
#: So many different fields, one of them who wrote, are a copy of a header if one has an address.
#: A person also writes such lines, as of a journey: from, to, date.
_ENOUGH, _ALL = 3, 4
#: The fields that a copy has: those of Outlook and other programs, in the languages of most users.
_LABELS: Final = {
    label: field
    for field, labels in {
        _FROM: "from,von,de,da,van,från,fra,od,kimden,gönderen,от,发件人,寄件者,差出人,送信者,"
        "보낸사람,보낸 사람,lähettäjä",
        _SENT: "sent,date,gesendet,datum,dato,envoyé,envoyé le,message du,enviado,enviada,"
        "enviado el,enviado em,fecha,data,inviato,verzonden,skickat,sendt,wysłano,gönderildi,tarih,"
        "отправлено,дата,发送时间,日期,送信日時,日時,보낸날짜,보낸 날짜,lähetetty",
        _TO: "to,cc,an,à,a,para,aan,till,til,do,kime,кому,收件人,宛先,받는사람,받는 사람,"
        "vastaanottaja",
        _ABOUT: "subject,betreff,objet,sujet,asunto,assunto,oggetto,onderwerp,ämne,emne,temat,konu,"
        "тема,主题,主旨,件名,제목,aihe",
    }.items()
    for label in labels.split(",")
}
#: The last line of a mail from a telephone or a free program, which it names.
_NOTICE: Final = re.compile(
    r"(?=.*(?:phone|ipad|galaxy|android|samsung|huawei|xiaomi|blackberry|mail|outlook|gmx|web\.de"
    r"|mobil|tele|tablet|windows|handy|gerät|手机|手機|スマ))"
    r"(?:(?:sent (?:from|with|via)|get outlook for|von mein\S* .*gesendet|gesendet (?:mit|von)"
    r"|envoyé (?:de|à partir)|enviado (?:desde|do|a partir)|inviato (?:da|con)"
    r"|verzonden (?:met|vanaf|via)|отправлено (?:с|из)|发自|發自|skickat från|sendt fra|wysłane z)"
    r"[^.!?]{0,60}(?:\[[^\]]*\]|<[^>]*>|\([^)]*\))*[^.!?]{0,20}\.?|.{0,40}(?:から送信|gönderildi)\.?)"
)


def reply_of(text: str, *, is_flowed: bool = False) -> str:
    """Return what the writer of an answer wrote, without blank lines at both ends.

    A program that writes flowed text folds no quoted line without `>` (RFC 3676 section 4.5).
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\ufeff", "").split("\n")
    kept: list[str] = []
    lines = [line if line == _SIGNATURE else line.rstrip() for line in lines]
    parts = [*_parts(lines, is_flowed=is_flowed)]
    last = next(filter(None, reversed(lines)), "")
    if not any(map(any, parts)) and not last.startswith(">"):
        parts = [lines]  # the answer is in the quotation, of which the last line is not marked
    for part in parts:
        kept += [*_without_signature(part), ""]
    return "\n".join(_single_blanks(kept)).strip("\n")


def _parts(lines: Sequence[str], *, is_flowed: bool = False) -> Iterator[list[str]]:
    """Yield the lines that the writer wrote between quotations."""
    part: list[str] = []
    is_quoting, number = False, 0
    own = (at for at in reversed(range(len(lines))) if lines[at] and not lines[at].startswith(">"))
    last_own = next(own, -1)
    while number < len(lines):
        line = lines[number]
        if _forwards(lines, number):
            part += lines[number:]
            break
        length, ends = _attribution(lines, number)
        if ends or _is_copy(lines, number):
            break
        if length:
            is_quoting = True
        elif line.startswith(">") and (
            is_quoting or (number > last_own and _is_quotation(lines, number))
        ):
            is_quoting, length = True, _quoted(lines, number, is_flowed=is_flowed)
        else:
            part.append(line)
            number += 1
            continue
        yield part
        part = []
        number += length
    yield part


def _forwards(lines: Sequence[str], start: int) -> bool:
    """Return whether a forwarded mail follows, which is a part of what the writer sends."""
    line = lines[start][:_JUDGED].lower()
    is_title = _DASHED.match(line) or line.endswith(":")
    return bool(is_title and _FORWARDED.search(line) and _LABEL.match(_next(lines, start + 1)))


def _attribution(lines: Sequence[str], start: int) -> tuple[int, bool]:
    """Return how many lines say who wrote when, and whether all that follows is a quotation.

    It is 0 if none do. The first line has a time or an address, or is a title in hyphens: others
    may be the writer's.
    """
    title = _DASHED.fullmatch(lines[start].strip()[:_JUDGED])
    if title and _ORIGINAL.search((title[2] or "").lower()) and _next(lines, start + 1)[:1] == ">":
        return 1, False
    joined = ""
    for count, line in enumerate(lines[start : start + _MOST_FOLDED], 1):
        is_bracket = joined.count("<") > joined.count(">")  # that of an address, folded before it
        if not line or (line.startswith(">") and not is_bracket):
            break
        joined = f"{joined} {line.strip()}".lstrip()[:_JUDGED]
        has_time, has_address = _TIME.search(joined), _ADDRESS.search(joined)
        if not (has_time or has_address):
            break
        dashed = _DASHED.fullmatch(joined)
        names = ((dashed[2] if dashed else "") or joined).lower()
        ends = _ENDS.search(names) is not None
        is_whole = count == 1 or (has_time and has_address)
        if (
            is_whole
            and (ends or names.endswith(">"))
            and _next(lines, start + count).startswith(">")
        ):
            return count, False
        if has_time and _IN_BRACKETS.search(names) and _SAYS.search(names):
            return count, True
    return 0, False


def _is_quotation(lines: Sequence[str], start: int) -> bool:
    """Return whether quoted lines begin with who wrote, or the line before them says so.

    A person also writes `>`, as before a number.
    """
    before = next((line for line in reversed(lines[max(0, start - 3) : start]) if line), "")
    first = " ".join(lines[start : start + 5])[:_JUDGED]
    says = _SAYS.search(before[-_JUDGED:].lower()) or _SAYS.search(first.lower())
    return bool(says or (_TIME.search(first) and _ADDRESS.search(first)))


def _next(lines: Sequence[str], start: int) -> str:
    """Return the first line from `start` on that is not blank; a few lines may be."""
    return next((line.lstrip() for line in lines[start : start + 4] if line.strip()), "")


def _quoted(lines: Sequence[str], start: int, *, is_flowed: bool) -> int:
    """Return how many lines are quoted, with those that were folded off a quoted one."""
    number = start
    while number < len(lines) and lines[number].startswith(">"):
        number += 1
        folded = next(
            (
                n
                for n in (1, 2)
                if lines[number + n : number + n + 1] and lines[number + n].startswith(">")
            ),
            0,
        )
        quoted = lines[number - 1]
        is_folded = (
            not is_flowed
            and len(quoted) >= _FOLDED_AT
            and quoted[-1] not in ".?!:"
            and all(line and not line.startswith(">") for line in lines[number : number + folded])
        )
        number += folded if is_folded else 0
    return number - start


def _is_copy(lines: Sequence[str], start: int) -> bool:
    """Return whether a copy of header fields begins, perhaps after a line of hyphens."""
    line = lines[start].strip()[:_JUDGED]
    dashed = _DASHED.fullmatch(line)
    title = (dashed[2] or "").lower() if dashed else ""
    if _ORIGINAL.search(title) and _LABEL.match(_next(lines, start + 1)[:_JUDGED]):
        return True
    if _ADDRESS.search(title) and _SAYS.search(f"{title}:"):
        return True
    return bool(line) and _has_fields(_block(lines, start + bool(dashed)))


def _block(lines: Sequence[str], start: int) -> Iterator[str]:
    """Yield the lines up to the next blank one; blank lines may come before them."""
    is_begun = False
    for line in lines[start : start + 10]:
        if line:
            is_begun = True
            yield line
        elif is_begun:
            return


def _has_fields(block: Iterator[str]) -> bool:
    """Return whether lines begin with who wrote or when, and say to whom or about what."""
    found: set[int] = set()
    has_address = False
    for line in block:
        label = _LABEL.match(line[:_JUDGED])
        field = _LABELS.get(label[1].lower()) if label else None
        if label is None or field is None:
            if not found:
                return False
            continue  # a field that is folded, or another one
        if not found and field not in {_FROM, _SENT}:
            return False
        found.add(field)
        has_address |= _ADDRESS.search(label[2]) is not None
    return _FROM in found and len(found) >= (_ENOUGH if has_address else _ALL)


def _without_signature(lines: list[str]) -> list[str]:
    """Return the lines before the signature of a part, and before the notice at its end."""
    if _SIGNATURE in lines:
        lines = lines[: lines.index(_SIGNATURE)]
    end = len(lines)
    while end and not lines[end - 1]:
        end -= 1
    lines = lines[:end]
    paragraph = [*takewhile(bool, reversed(lines))]
    first = paragraph[-1] if paragraph else ""
    is_signature = first in {"--", "—"} and len(paragraph) <= _MOST_OF_SIGNATURE
    is_alone = len(paragraph) == 1 and len(first) < _JUDGED
    is_notice = is_alone and _NOTICE.fullmatch(first.strip().lower())
    return lines[: -len(paragraph)] if is_signature or is_notice else lines


def _single_blanks(lines: Sequence[str]) -> list[str]:
    return [line for number, line in enumerate(lines) if line or not number or lines[number - 1]]
