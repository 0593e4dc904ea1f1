"""Changes of DynamoDB expressions, which are only strings to cosmic-ray."""

import re
from collections.abc import Iterator
from typing import Final

#: One term of a condition; it compares with a placeholder or an interpolated value.
_TERM: Final = re.compile(
    r"attribute_(?:not_)?exists\([^()]*\)|(?<!, )(?<![\w#])[#{}.\w]+ (?:=|<>|<|<=) [:{][\w{}]+"
)
_UPDATE: Final = re.compile(r"\b(SET|ADD|REMOVE) ")
#: Both use every name and value, since DynamoDB refuses an expression that leaves one out.
_ALWAYS: Final = "({0} OR NOT {0})"
_NEVER: Final = "({0} AND NOT {0})"


def changed_conditions(text: str) -> Iterator[str]:
    """Yield the text of a literal with one change at a time.

    Each term of a condition is changed to always or never hold. `<` becomes `<=` and `<=`
    becomes `<`. An addition in an update becomes a subtraction.
    """
    if _UPDATE.search(text) or " + :" in text:
        for match in re.finditer(r" \+ (?=:)", text):
            yield f"{text[: match.start()]} - {text[match.end() :]}"
        return
    for match in _TERM.finditer(text):
        term = match[0]
        others = [_ALWAYS.format(term), _NEVER.format(term)]
        if " < " in term:
            others.append(term.replace(" < ", " <= "))
        if " <= " in term:
            others.append(term.replace(" <= ", " < "))
        for other in others:
            yield text[: match.start()] + other + text[match.end() :]
