"""Finds the codes in an email: what a person types in to sign in or to confirm something.

A code has four to eight digits, or capital letters and digits such as `AB12-CD34`. Amounts, dates,
phone numbers, order numbers and the like are no codes. What may be something else, such as `2026`
or `AB12-CD34`, is a code only in a sentence that speaks of one, or alone on a line if the email
does.
"""

import re
from typing import Final

#: Says that the sentence speaks of a code. A postcode or an error code is not one.
_CONTEXT: Final = re.compile(
    r"(?<!zip )(?<!post )(?<!postal )(?<!area )(?<!country )(?<!error )(?<!status )(?<!source )"
    r"(?<!dress )(?<!qr )\b(?!(?:post|zip|bar)code)"
    r"(?:\w*codes?|c[oó]dig[oi]s?|codice|kod[ey]?|код\w*|pin|otp|tan|2fa|one-time|einmal\w*|token"
    r"|verif\w*|sign(?:ing)?[ -]?in|log(?:ging)?[ -]?in)\b|验证码|驗證碼|コード|코드",
    re.IGNORECASE,
)
#: A token that does not continue on either side. Digits may be in two groups, or one by one.
_TOKEN: Final = re.compile(
    r"(?<![A-Za-z0-9_.,/#+@*•=$€£¥-])(?<![0-9]:)"
    r"(?:[0-9]{3}[ -][0-9]{3}|[0-9]{4}[ -][0-9]{4}|[0-9](?: {1,2}[0-9]){3,7}|[0-9]{4,8}"
    r"|[A-Z0-9]{2,8}(?:-[A-Z0-9]{2,8}){1,3}|[A-Z]-[0-9]{4,8}|[A-Z0-9]{6,12})"
    r"(?![A-Za-z0-9_/:@%=-]|[.,][0-9])"
)
#: Digits that are a code unless something says that they are not.
_DIGITS: Final = re.compile(r"[0-9]{3}[ -][0-9]{3}|[0-9]{4,8}")

_CURRENCY: Final = (
    r"(?:[$€£¥₹₩₽฿₺₫₪円元원]|\b(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RON|INR|CNY|HKD"
    r"|SGD|KRW|THB|IDR|BRL|MXN|ZAR|ILS|AED|Rs\.?|kr\.?|zł|Kč|Ft)(?!\w))"
)
_UNIT: Final = (
    r"(?i:%|°|dollars?|euros?|pounds?|yen|cents?|percent|m?s|sec(?:ond)?s?|min(?:ute)?s?|h|hours?|days?"
    r"|weeks?|months?|years?|[ckm]?m|miles?|[km]?g|lbs?|[kmgt]i?b|bytes?|px|items?|pieces?|e?mails?"
    r"|messages?|users?|people|customers?|points?|credits?|times|words?|characters?|pages?|steps?"
    r"|views?|orders?|visits?)(?!\w)"
)
#: What such a number or name identifies.
_THING: Final = (
    r"(?i:\b(?:orders?|invoice|receipt|booking|reservation|ticket|case|tracking|reference|customer"
    r"|account|member|article|item|serial|flight|room|suite|apartment|box|phone|tel(?:ephone)?|fax"
    r"|mobile|bestell\w*|rechnung\w*|kunden\w*|auftrag\w*|commande|facture|pedido|factura))"
)
_NUMBER: Final = r"(?i:[ -]?(?:number|no|nr|nummer|id|ref)\b\.?(?: is| was)?:?)"
_OTHER_BEFORE: Final = re.compile(
    rf"(?:{_CURRENCY} ?|{_THING}\.?{_NUMBER}?[ \n]"
    r"|(?i:\b(?:no|nr|n°|call|ending (?:in|with))\b\.?) |[0-9][ ./()-]|\([0-9]+\) ?|[*•] )$"
)
_OTHER_AFTER: Final = re.compile(rf" ?{_CURRENCY}| ?{_UNIT}|[ ./(]\(?[0-9]|[)]-?[0-9]")
#: The same with a colon, which may also follow `the code for your order`.
_THING_BEFORE: Final = re.compile(rf"{_THING}\.?:?[ \n]?$")
#: The number of a house before a street, or a postcode beside its town.
_ADDRESS_DIGITS: Final = 5
_ADDRESS_BEFORE: Final = re.compile(r"\b[A-Z]{2} $")
_ADDRESS_AFTER: Final = re.compile(r" [A-ZÄÖÜ][a-zäöüß]")

_MONTH: Final = (
    r"\b(?:jan|f[eé][bv]|m[aä]r|a[bpv]r|ma[iy]|ju[nli]|a[ugo]|ao[uû]|sep|o[ck]t|nov|d[ei][czc])\w*"
)
_DAY: Final = r"(?:0[1-9]|[12][0-9]|3[01])"
_YEAR: Final = r"(?:19|20)[0-9]{2}"
_DATE: Final = re.compile(rf"{_YEAR}(?:{_DAY}{_DAY})?|{_DAY}{_DAY}{_YEAR}|{_YEAR}[ -]{_YEAR}")
_DATE_BEFORE: Final = re.compile(
    rf"(?:\b(?:in|since|until|till|from|of|for|by|year|de|en|im|seit|bis|copyright) |©.?|\(c\) "
    rf"|{_MONTH}\.?,? (?:[0-9]{{1,2}}(?:st|nd|rd|th)?,? )?)$",
    re.IGNORECASE,
)
_DATE_AFTER: Final = re.compile(rf" ?©| {_MONTH}|年", re.IGNORECASE)
#: Characters on either side of a token that may say what it is.
_NEAR: Final = 200
_SENTENCE_END: Final = re.compile(r"[.!?]\s")


def codes_in(text: str) -> list[str]:
    """Return the codes of a text, each once: first those that it speaks of, then what may be one.

    Digits come without blanks and hyphens between them.
    """
    # `Code:123456` as others write it, with a blank
    text = re.sub(rf"({_CONTEXT.pattern})[:\uff1a](?=\S)", r"\1: ", text, flags=re.IGNORECASE)
    lines = [line.strip() for line in text.replace("\xa0", " ").splitlines() if line.strip()]
    speaks_of_code = any(map(_CONTEXT.search, lines))
    named: list[str] = []
    alone: list[str] = []  # a year or a name, which is the code only if there is no other
    possible: list[str] = []
    for number, line in enumerate(lines):
        for token in _TOKEN.finditer(line):
            is_alone = line.strip(" .:*_\"'()[]") == token[0]
            is_named = speaks_of_code if is_alone else bool(_CONTEXT.search(_sentence(token)))
            above = f"{lines[number - 1][-_NEAR:]}\n" if is_alone and number else ""
            before = above + line[max(token.start() - _NEAR, 0) : token.start()]
            if _is_code(token, before, is_named=is_named):
                if is_alone and not _is_plain(token[0]):
                    found = alone
                else:
                    found = named if is_named or is_alone else possible
                found.append(_written(token[0]))
    return [*dict.fromkeys((named or alone) + possible)]


def _sentence(token: re.Match[str]) -> str:
    """Return the sentence around a token, or what of it is near."""
    before = token.string[max(token.start() - _NEAR, 0) : token.start()]
    after = token.string[token.end() : token.end() + _NEAR]
    return f"{_SENTENCE_END.split(before)[-1]} {_SENTENCE_END.split(after)[0]}"


def _is_code(token: re.Match[str], before: str, *, is_named: bool) -> bool:
    """Return whether a token is a code, by what stands before and after it."""
    text, after = token[0], token.string[token.end() :]
    if _OTHER_BEFORE.search(before) or _OTHER_AFTER.match(after):
        return False
    if _DATE.fullmatch(text) and (_DATE_BEFORE.search(before) or _DATE_AFTER.match(after)):
        return False
    if is_named:
        return _has_code_form(text)
    return (
        _is_plain(text)
        and not _THING_BEFORE.search(before)
        and not (len(text) <= _ADDRESS_DIGITS and _is_in_address(before, after))
    )


def _is_plain(text: str) -> bool:
    return bool(_DIGITS.fullmatch(text)) and not _DATE.fullmatch(text)


def _is_in_address(before: str, after: str) -> bool:
    return bool(_ADDRESS_BEFORE.search(before) or _ADDRESS_AFTER.match(after))


def _has_code_form(text: str) -> bool:
    """Return whether a token has digits, or groups of letters; a word in capitals has neither."""
    groups = text.split("-")
    return any(char.isdigit() for char in text) or len({*map(len, groups)}) == 1 < len(groups)


def _written(text: str) -> str:
    digits = re.sub(r"[ -]", "", text)
    return digits if digits.isdigit() else text
