"""SMTP sessions made by chance from a grammar: right, almost right and hostile ones."""

import random
from base64 import b64encode
from dataclasses import dataclass
from typing import Final

from tests.fakes import builders

SENDER: Final = builders.SENDER
#: Ends a session in every state: a message, a transaction or an AUTH exchange.
_END: Final = b"\r\n.\r\n*\r\nQUIT\r\n"
_ADDRESSES: Final = (
    "ann@example.com",
    "Ann@Example.com",
    "bob+tag@example.org",
    '"quoted local"@example.com',
    "o'hara@example.net",
    "ann@xn--bcher-kva.example",
    "a" * 64 + "@example.com",
)
_BAD_PATHS: Final = (
    b"",
    b"ann",
    b"@relay.example:ann@example.com",
    b"ann@[192.0.2.1]",
    b"ann@example.com>,<bob@example.com",
    b"ann@example.com\x00",
    b"ann@example.com\r",
    b"ann@example.com\nRCPT TO:<eve@example.com",
    b"ann@example.com> <eve@example.com",
    "anné@example.com".encode(),
    b"a" * 600 + b"@example.com",
)
_VERBS: Final = (
    b"NOOP",
    b"RSET",
    b"HELP",
    b"EXPN list",
    b"VRFY ann",
    b"BDAT 5 LAST",
    b"XCLIENT ADDR=192.0.2.1",
    b"STARTTLS",
    b"EHLO again.example",
    b"HELO again.example",
    b"AUTH PLAIN",
    b"AUTH LOGIN",
    b"AUTH CRAM-MD5",
    b"MAIL",
    b"DATA now",
    b".",
    b"",
    b" ",
    b"QUIT now",
    b"mail from:<" + SENDER.encode() + b">",
    b"x" * 600,
)
_MAIL_PARAMETERS: Final = (
    b"",
    b"",
    b"",
    b" SIZE=100",
    b" SIZE=99999999",
    b" SIZE=-1",
    b" BODY=8BITMIME",
    b" body=7bit size=5",
    b" SMTPUTF8",
    b" SIZE=1 SIZE=2",
    b" AUTH=<>",
    b"  SIZE=1",
)
#: Ends of data that are none, and other octets that programs understand differently.
_SMUGGLING: Final = (
    b"\n.\n",
    b"\n.\r\n",
    b"\r\n.\n",
    b"\r.\r",
    b"\r\n\x00.\r\n",
    b"\r\r\n.\r\n",
    b"\n",
    b"\r",
    b"\x00",
)
_SMUGGLED: Final = b"MAIL FROM:<%s>\r\nRCPT TO:<eve@example.com>\r\nDATA\r\n" % SENDER.encode()
_FIELDS: Final = (
    b"To: ann@example.com",
    b"Cc: Bob <bob+tag@example.org>,\r\n ann@example.com",
    b"Bcc: eve@example.com",
    b"Bcc: mallory@example.com",
    b"bCC:\r\n eve@example.com,\r\n\tmallory@example.com",
    b"Resent-Bcc: eve@example.com",
    b"Return-Path: <eve@example.com>",
    b"X-SES-CONFIGURATION-SET: other",
    b"x-ses-source-arn:\r\n arn",
    b"Subject: Hello",
    b"Subject: =?utf-8?q?H=C3=A9?=",
    b"Date: Sat, 14 Mar 2026 15:09:26 +0000",
    b"Message-ID: <one@shop.example>",
    b"X-Long: " + b"y" * 900,
    b"X-Folded: a\r\n b\r\n\tc",
    b"X-Eight: h\xc3\xa9",
    b"Received: from a by b; Sat, 14 Mar 2026 15:09:26 +0000",
    b"Sender: " + SENDER.encode(),
    b"X-Empty:",
    b"MIME-Version: 1.0",
    b"Content-Type: text/plain; charset=utf-8",
    b"Content-Transfer-Encoding: 8bit",
    b"Content-Transfer-Encoding: 7bit (plain)",
    b"Content-Type: text/plain; charset=us-ascii (Plain text)",
    b'Content-Type: multipart/mixed; boundary="b"; boundary=b',
    b'Content-Type: multipart/mixed; boundary="b\r\n b"',
)
_HOSTILE_FIELDS: Final = (
    b"From: eve@example.com",
    b"no field",
    b" folded too early",
    b"Name : with a space",
    b"Bcc : eve@example.com",
    b"X-SES-RETURN-PATH : eve@example.com",
    b"Content-Type: multipart/mixed; boundary=b",
    b"Content-Type: text/html",
    b"X-Too-Long: " + b"y" * 999,
    b"",
)
_LINES: Final = (
    b"Hello",
    b"",
    b".",
    b"..",
    b".hidden",
    b"--b",
    b"--b--",
    b"--b b",
    b"--b b--",
    b"Content-Type: text/plain",
    b"Content-Disposition: attachment; filename=a.pdf",
    b"Content-Transfer-Encoding: base64",
    b"JVBERi0xLjQK",
    b"MAIL FROM:<" + SENDER.encode() + b">",
    b"RCPT TO:<eve@example.com>",
    b"DATA",
    b"QUIT",
    b"Bcc: not a field",
    b"h\xc3\xa9llo \xff",
    b"z" * 998,
    b"." + b"z" * 997,
)


@dataclass(frozen=True, slots=True)
class Script:
    """What a client sends before TLS and within it, and the sizes of the pieces."""

    plaintext: bytes
    secure: bytes
    pieces: tuple[int, ...]

    def in_pieces(self) -> list[bytes]:
        """Return what the client sends within TLS, as it is split into records."""
        parts, start = [], 0
        for size in self.pieces:
            parts.append(self.secure[start : start + size])
            start += size
        return [*filter(None, parts), self.secure[start:]]


class Grammar:
    """Makes scripts from a seed. `key` is a key that works."""

    def __init__(self, seed: int, key: str) -> None:
        self._random = random.Random(seed)  # noqa: S311  no secret
        self._key = key
        #: Transactions whose message has an Idempotency-Key, which clients send again.
        self._keyed: list[bytes] = []

    def script(self) -> Script:
        """Return the next script."""
        chance = self._random.random
        plaintext = b"EHLO client.example\r\n"
        if chance() < 0.2:
            plaintext += self._login() + self._transaction()
            plaintext = plaintext.replace(b"STARTTLS", b"NOOP")
        plaintext += b"STARTTLS\r\n"
        if chance() < 0.03:
            plaintext += self._login() + self._transaction()
        secure = b"EHLO client.example\r\n"
        if chance() < 0.95:
            secure += self._login()
        for _ in range(self._random.choice((1, 1, 2, 3))):
            if chance() < 0.3:
                secure += self._random.choice(_VERBS) + b"\r\n"
            secure += self._transaction()
        if chance() < 0.05:
            secure = self._damaged(secure)
        pieces: tuple[int, ...] = ()
        if chance() < 0.5:
            longest = self._random.choice((7, 60, 700))
            pieces = tuple(self._random.randint(1, longest) for _ in range(20))
        return Script(plaintext, secure + _END, pieces)

    def _login(self) -> bytes:
        key = self._key
        if self._random.random() < 0.04:
            key = self._random.choice((key[:-1], builders.key_text(), "", key + "\0"))
        user = "apikey" if self._random.random() < 0.97 else "admin"
        if self._random.random() < 0.7:
            return b"AUTH PLAIN " + b64encode(f"\0{user}\0{key}".encode()) + b"\r\n"
        return b"AUTH LOGIN\r\n%s\r\n%s\r\n" % (b64encode(user.encode()), b64encode(key.encode()))

    def _transaction(self) -> bytes:
        choice, chance = self._random.choice, self._random.random
        if self._keyed and chance() < 0.03:
            return choice(self._keyed)
        sender = SENDER.encode() if chance() < 0.95 else choice(_BAD_PATHS)
        parameters = choice(_MAIL_PARAMETERS) if chance() < 0.3 else b""
        lines = [b"MAIL FROM:<" + sender + b">" + parameters]
        for _ in range(choice((1, 1, 1, 2, 3, 52))):
            path = choice(_ADDRESSES).encode() if chance() < 0.95 else choice(_BAD_PATHS)
            lines.append(b"RCPT TO:<" + path + b">")
            if chance() < 0.05:
                lines.append(choice(_VERBS))
        if chance() < 0.03:
            self._random.shuffle(lines)
        lines.append(b"DATA")
        transaction = b"\r\n".join(lines) + b"\r\n" + self._message() + b".\r\n"
        if b"\r\nIdempotency-Key:" in transaction:
            self._keyed = [*self._keyed[-20:], transaction]
        return transaction

    def _message(self) -> bytes:
        choice, chance = self._random.choice, self._random.random
        fields = self._random.sample(_FIELDS, self._random.randint(0, 6))
        if chance() < 0.2:
            fields += self._random.choices(_HOSTILE_FIELDS, k=2)
        if chance() < 0.9:
            fields.append(b"From: Shop <" + SENDER.encode() + b">")
        if chance() < 0.1:
            fields.append(b"Idempotency-Key: key-%d" % self._random.randint(0, 500))
        self._random.shuffle(fields)
        body = [choice(_LINES) for _ in range(self._random.randint(0, 8))]
        if chance() < 0.05:
            body.append(b"z" * 999)
        if chance() < 0.03:
            body += [b"w" * 900] * 100
        lines = [*fields, b"", *body]
        if chance() < 0.9:
            lines = [b"." + line if line.startswith(b".") else line for line in lines]
        message = b"\r\n".join(lines) + b"\r\n"
        if chance() < 0.08:
            position = self._random.randint(0, len(message))
            smuggled = choice(_SMUGGLING) + (_SMUGGLED if chance() < 0.5 else b"")
            message = message[:position] + smuggled + message[position:]
        return message

    def _damaged(self, octets: bytes) -> bytes:
        """Return the octets with one piece lost, repeated or changed."""
        start = self._random.randint(0, len(octets))
        end = min(len(octets), start + self._random.randint(1, 40))
        piece = self._random.choice((b"", octets[start:end] * 2, self._random.randbytes(3)))
        return octets[:start] + piece + octets[end:]
