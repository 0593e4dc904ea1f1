"""Forms of encoded-words and parameters in which a mail program shows what others do not see."""

from base64 import b64encode
from typing import Final


def _b(octets: bytes) -> str:
    return b64encode(octets).decode()


_RLO: Final = "\u202e".encode()

#: Each shows a right-to-left override (U+202E) in at least one program.
HIDDEN_DIRECTIONS: Final = (
    "=?utf-8?q?=E2=80=AEx?=",
    f"=?utf-8?B?{_b(_RLO)}?=",
    f"=?utf-8?B?{_b(_RLO + b'abc\xff')}?=",
    "=?utf-8?q?=FF=E2=80=AE?=",
    f"=?utf-8*en?B?{_b(_RLO)}?=",
    "=?x-unknown?q?=E2=80=AE?=",
    "=?unknown-8bit*de?q?=E2=80=AE?=",
    "=?utf-8?q?=E2=80?= =?utf-8?q?=AE?=",
    f"=?utf-8?q?=E2?= =?UTF-8?b?{_b(_RLO[1:])}?=",
    "=?utf-8?q?=E?= =?utf-8?q?2=80=AE?=",
    "=?utf-8?q?= E2= 80= AE?=",
    f"=?utf-8?B?{_b(_RLO)[:2]}?= =?utf-8?B?{_b(_RLO)[2:]}?=",
    f"=?utf-8?B?{_b(_RLO)[:2]}!{_b(_RLO)[2:]}?=",
    f"=?utf-8?B?{_b(b'ab' + _RLO).rstrip('=')}?=",
    f"=?utf-16?B?{_b('\u202e'.encode('utf-16-be'))}?=",
    f"=?utf-16?B?{_b('\u202e'.encode('utf-16-le'))}?=",
    f"=?utf-16be?B?{_b('\u202e'.encode('utf-16-le'))}?=",
    f"=?ucs-2?B?{_b('\u202e'.encode('utf-16-be'))}?=",
    f"=?unicode?B?{_b(_RLO)}?=",
    f"=?utf-32?B?{_b('\u202e'.encode('utf-32-le'))}?=",
    "=?utf-7?q?+IC4-?=",
    "=?unicode-1-1-utf-7?q?+IC4-?=",
    f"=?gb18030?B?{_b('\u202e'.encode('gb18030'))}?=",
    f"=?gb2312?B?{_b('\u202e'.encode('gb18030'))}?=",
    f"=?x-gbk?B?{_b('\u202e'.encode('gb18030'))}?=",
    f"=?iso-2022-jp?B?{_b(_RLO)}?=",
    f"=?cp037?B?{_b(_RLO)}?=",
    f"=?hz-gb-2312?B?{_b(_RLO)}?=",
    "=?utf-8?q?a?b=E2=80=AE?=",
    "=?utf 8?q?=E2=80=AE?=",
    "=?utf-8?q?=E2=81=A6?=",
    "Привет=?utf-8?q?=E2=80=AE?=.",
    "x \u202e",
)

#: Parameters that call a file .js in at least one program.
HIDDEN_EXTENSIONS: Final = (
    'name="=?utf-8?q?x=2Ej?=s"',
    'name="=?us-ascii?q?x=2Ej?= =?utf-8?q?s?="',
    'name="x.j=?utf-8?q?s?="',
    'name="x=?utf-8?q?=2E?=js"',
    'name="=?utf-8?q?x=2Ej?= s"',
    'name="=?utf-8?q?x=2Ej=73?="',
    'name="=?utf-8*en?B?eC5qcw==?="',
    'name="=?utf-8?B?eC5q?= =?utf-8?B?cw==?="',
    'name="=?utf-8?B?eC5?= =?utf-8?B?qcw?="',
    'name="=?utf-8?q?x=2?= =?utf-8?q?Ejs?="',
    'name="=?utf-8?q?x= 2Ejs?="',
    'name="=?iso-8859-1?q?x=2E?=\t=?utf-8?q?js?="',
    'name="=?iso-2022-jp?q?x.=1B$B?= =?iso-2022-jp?q?js?="',
    'name="=?iso-2022-jp?q?x.j=AEs?="',
    'name="=?gb2312?q?x.j?=s"',
    'name="=?utf-7?q?x.+AGoAcw-?="',
    'name="=?utf-16?B?eAAuAGoAcwA=?="',
    'name="=?cp037?q?x.js?="',
    'name="=?x-unknown?q?x.js?="',
    'name="=?utf-8?q?x.js"',
    'name="=?utf-8?q?x.j?s?="',
    "name==?utf-8?q?x=2Ejs?=",
    "name=x.js report",
    "name=x.js (report.pdf)",
    "name=x.j(c)s",
    'name="x.j\\s"',
    'name="x.js\\".pdf"',
    'name="x.j\r\n s"',
    'name="x.j\u200bs"',
    "name*=utf-8''x%2Ejs",
    "name*=utf-8''=%3Futf-8%3Fq%3Fx.js%3F=",
    "name*=x%2Ejs",
    "name*0*=utf-8''x%2E;\r\n name*1*=j%73",
    "name*0*=utf-8''x;\r\n name*1=%2Ejs",
    "name*0*=iso-2022-jp''x.%1B$B;\r\n name*1=js",
    "name*=utf-8''x.pdf.;\r\n name*1=js",
    'name*0="=?utf-8?q?x=2E";\r\n name*1="js?="',
    'name*0="=?utf-8?q?x=2Ej?=";\r\n name*1=s',
    "name*0*=utf-8''x.;\r\n name*1=\"=?utf-8?q?js?=\"",
    "name*0=x.;\r\n name*1=js",
)
