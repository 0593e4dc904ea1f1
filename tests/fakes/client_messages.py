"""Messages in the style of common mail programs, which the relay must accept.

Each was written by hand after the habits of its program: order and folding of fields, boundaries,
names of files, preambles and encodings.
"""

from datetime import UTC, datetime
from email import policy
from email.message import EmailMessage
from email.mime.application import MIMEApplication
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.utils import formatdate
from typing import Final

from tests.fakes.builders import SENDER

_PDF: Final = "JVBERi0xLjQKJcOkw7zDtsOfCg=="
_PNG: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"

#: Program -> message, with LF as line ends.
_WRITTEN: Final = {
    "nodemailer": f"""\
From: Shop <{SENDER}>
To: ann@example.com, =?UTF-8?Q?J=C3=B6rg?= <joerg@example.com>
Subject: =?UTF-8?Q?Votre_commande_n=C2=B0_42?=
Message-ID: <7c1f6c6e-8d2e-0a3b-8f5d-4f5c9a1e2b3c@shop.example>
Date: Sat, 14 Mar 2026 15:09:26 +0000
MIME-Version: 1.0
Content-Type: multipart/mixed;
 boundary="--_NmP-4f1c6a9c0e7a3b21-Part_1"

----_NmP-4f1c6a9c0e7a3b21-Part_1
Content-Type: multipart/alternative;
 boundary="--_NmP-4f1c6a9c0e7a3b21-Part_2"

----_NmP-4f1c6a9c0e7a3b21-Part_2
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 7bit

Hello
----_NmP-4f1c6a9c0e7a3b21-Part_2
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: quoted-printable

<p>Sch=C3=B6n, a very long line that goes on =
and on</p>
----_NmP-4f1c6a9c0e7a3b21-Part_2--

----_NmP-4f1c6a9c0e7a3b21-Part_1
Content-Type: application/pdf; name*0*=utf-8''R%C3%A9sum%C3%A9%20d%27un%20tr%C3;
 name*1*=%A8s%20long%20nom.pdf
Content-Transfer-Encoding: base64
Content-Disposition: attachment;
 filename*0*=utf-8''R%C3%A9sum%C3%A9%20d%27un%20tr%C3;
 filename*1*=%A8s%20long%20nom.pdf

{_PDF}
----_NmP-4f1c6a9c0e7a3b21-Part_1--
""",
    "PHPMailer": f"""\
Date: Sat, 14 Mar 2026 16:09:26 +0100
To: Ann <ann@example.com>
From: Shop <{SENDER}>
Reply-To: Help <help@shop.example>
Subject: =?UTF-8?Q?Bestellbest=C3=A4tigung?=
Message-ID: <R4nd0mSt7ingOfPhpMailer0123456789abcdefg@www.shop.example>
X-Mailer: PHPMailer 6.9.1 (https://github.com/PHPMailer/PHPMailer)
MIME-Version: 1.0
Content-Type: multipart/mixed;
 boundary="b1=_R4nd0mSt7ingOfPhpMailer0123456789abcdefg"
Content-Transfer-Encoding: 8bit

--b1=_R4nd0mSt7ingOfPhpMailer0123456789abcdefg
Content-Type: multipart/alternative;
 boundary="b2=_R4nd0mSt7ingOfPhpMailer0123456789abcdefg"

--b2=_R4nd0mSt7ingOfPhpMailer0123456789abcdefg
Content-Type: text/plain; charset=us-ascii

Hello

--b2=_R4nd0mSt7ingOfPhpMailer0123456789abcdefg
Content-Type: text/html; charset=UTF-8
Content-Transfer-Encoding: 8bit

<p>Schön</p>

--b2=_R4nd0mSt7ingOfPhpMailer0123456789abcdefg--

--b1=_R4nd0mSt7ingOfPhpMailer0123456789abcdefg
Content-Type: application/pdf; name="=?UTF-8?Q?B=C3=A4r.pdf?="
Content-Transfer-Encoding: base64
Content-Disposition: attachment; filename="=?UTF-8?Q?B=C3=A4r.pdf?="

{_PDF}


--b1=_R4nd0mSt7ingOfPhpMailer0123456789abcdefg--

""",
    "PHP mail()": f"""\
To: ann@example.com
Subject: Schöne Grüße
X-PHP-Originating-Script: 1000:contact.php
From: {SENDER}
Reply-To:
X-Mailer: PHP/8.3.4
Message-Id: <20260314150926.ABC123@www.shop.example>
Date: Sat, 14 Mar 2026 15:09:26 +0000 (UTC)

Hello
""",
    "Rails": f"""\
Date: Sat, 14 Mar 2026 15:09:26 +0000
From: {SENDER}
To: ann@example.com
Message-ID: <65f31a06a2b1c_1a2b3c42058@web-1.mail>
Subject: Welcome
Mime-Version: 1.0
Content-Type: multipart/mixed;
 boundary="--==_mimepart_65f31a06a1f2e_1a2b3c4205";
 charset=UTF-8
Content-Transfer-Encoding: 7bit


----==_mimepart_65f31a06a1f2e_1a2b3c4205
Content-Type: multipart/alternative;
 boundary="--==_mimepart_65f31a06a0b1c_1a2b3c4204f";
 charset=UTF-8
Content-Transfer-Encoding: 7bit


----==_mimepart_65f31a06a0b1c_1a2b3c4204f
Content-Type: text/plain;
 charset=UTF-8
Content-Transfer-Encoding: 7bit

Hello
----==_mimepart_65f31a06a0b1c_1a2b3c4204f
Content-Type: text/html;
 charset=UTF-8
Content-Transfer-Encoding: quoted-printable

<p>Gr=C3=BC=C3=9Fe</p>=

----==_mimepart_65f31a06a0b1c_1a2b3c4204f--

----==_mimepart_65f31a06a1f2e_1a2b3c4205
Content-Type: application/pdf;
 filename=invoice.pdf
Content-Transfer-Encoding: base64
Content-Disposition: attachment;
 filename=invoice.pdf
Content-ID: <65f31a06a@web-1.mail>

{_PDF}

----==_mimepart_65f31a06a1f2e_1a2b3c4205--
""",
    "Outlook": f"""\
From: "Shop" <{SENDER}>
To: <ann@example.com>,
\t"O'Neil, Bob" <bob@example.com>
Cc: "'carl@example.com'" <carl@example.com>
References: <001901da7612$5f0a2b10$1d1e8130$@shop.example>
In-Reply-To: <001901da7612$5f0a2b10$1d1e8130$@shop.example>
Subject: RE: Offer
Date: Sat, 14 Mar 2026 16:09:26 +0100
Message-ID: <002a01da7613$a1b2c3d0$e5182b70$@shop.example>
MIME-Version: 1.0
Content-Type: multipart/mixed;
\tboundary="----=_NextPart_000_002B_01DA761C.03A1B2C0"
X-Mailer: Microsoft Outlook 16.0
Thread-Index: AQHZ0dAvL1b2c3d4e5f6a7b8c9d0e1f2g3h4
Content-Language: de

This is a multipart message in MIME format.

------=_NextPart_000_002B_01DA761C.03A1B2C0
Content-Type: multipart/related;
\tboundary="----=_NextPart_001_002C_01DA761C.03A1B2C0"


------=_NextPart_001_002C_01DA761C.03A1B2C0
Content-Type: multipart/alternative;
\tboundary="----=_NextPart_002_002D_01DA761C.03A1B2C0"


------=_NextPart_002_002D_01DA761C.03A1B2C0
Content-Type: text/plain;
\tcharset="iso-8859-1"
Content-Transfer-Encoding: quoted-printable

=84Gr=FC=DFe=93

------=_NextPart_002_002D_01DA761C.03A1B2C0
Content-Type: text/html;
\tcharset="iso-8859-1"
Content-Transfer-Encoding: quoted-printable

<img src=3D"cid:image001.png@01DA761C.03A1B2C0">
------=_NextPart_002_002D_01DA761C.03A1B2C0--

------=_NextPart_001_002C_01DA761C.03A1B2C0
Content-Type: image/png;
\tname="image001.png"
Content-Transfer-Encoding: base64
Content-ID: <image001.png@01DA761C.03A1B2C0>

{_PNG}

------=_NextPart_001_002C_01DA761C.03A1B2C0--

------=_NextPart_000_002B_01DA761C.03A1B2C0
Content-Type: application/vnd.openxmlformats-officedocument.wordprocessingml.document;
\tname="Angebot =?iso-8859-1?Q?=FCber?= 3.docx"
Content-Transfer-Encoding: base64
Content-Disposition: attachment;
\tfilename="Angebot 3.docx"

{_PDF}

------=_NextPart_000_002B_01DA761C.03A1B2C0--

""",
    "Thunderbird": f"""\
Message-ID: <3f0c2b1a-9d8e-4c7b-a6f5-0e1d2c3b4a59@shop.example>
Date: Sat, 14 Mar 2026 16:09:26 +0100
MIME-Version: 1.0
User-Agent: Mozilla Thunderbird
To: undisclosed-recipients:;
Content-Language: en-US
From: Shop <{SENDER}>
Autocrypt: addr={SENDER}; keydata=
 xsDNBF8
Subject: =?UTF-8?Q?Long_subject_with_=E2=82=AC_that_is_folded_over_more_tha?=
 =?UTF-8?Q?n_one_line?=
Content-Type: multipart/mixed; boundary="------------0ZcWqT5bq8J4p1kX2Ym9LrAe"

This is a multi-part message in MIME format.
--------------0ZcWqT5bq8J4p1kX2Ym9LrAe
Content-Type: text/plain; charset=UTF-8; format=flowed
Content-Transfer-Encoding: 7bit

--\x20
Signature

--------------0ZcWqT5bq8J4p1kX2Ym9LrAe
Content-Type: text/csv; charset=UTF-8; name*0="a_rather_long_name_of_a_list_that_is_";
 name*1="split.csv"
Content-Disposition: attachment; filename*0="a_rather_long_name_of_a_list_that_is_";
 filename*1="split.csv"
Content-Transfer-Encoding: base64

YSxiCjEsMgo=

--------------0ZcWqT5bq8J4p1kX2Ym9LrAe--
""",
    "Apple Mail": f"""\
From: Shop <{SENDER}>
Content-Type: multipart/alternative;
\tboundary="Apple-Mail=_0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0"
Mime-Version: 1.0 (Mac OS X Mail 16.0 \\(3774.400.31\\))
Subject: Photo
Message-Id: <0A1B2C3D-4E5F-6071-8293-A4B5C6D7E8F9@shop.example>
Date: Sat, 14 Mar 2026 16:09:26 +0100
To: Ann <ann@example.com>
X-Mailer: Apple Mail (2.3774.400.31)


--Apple-Mail=_0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0
Content-Transfer-Encoding: 7bit
Content-Type: text/plain;
\tcharset=us-ascii

Hello



--Apple-Mail=_0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0
Content-Type: multipart/mixed;
\tboundary="Apple-Mail=_1F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F1"


--Apple-Mail=_1F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F1
Content-Transfer-Encoding: 7bit
Content-Type: text/html;
\tcharset=us-ascii

<html><body>Hello</body></html>
--Apple-Mail=_1F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F1
Content-Disposition: inline;
\tfilename*=utf-8''Bildschirmfoto%202026%2D03%2D14%20um%2016.09.png
Content-Type: image/png;
\tx-unix-mode=0644;
\tname="Bildschirmfoto 2026-03-14 um 16.09.png"
Content-Transfer-Encoding: base64

{_PNG}
--Apple-Mail=_1F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F1--

--Apple-Mail=_0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0--
""",
    "JavaMail": f"""\
Date: Sat, 14 Mar 2026 15:09:26 +0000 (UTC)
From: Shop <{SENDER}>
To: ann@example.com
Message-ID: <1804936911.1.1710428966000@app-1>
Subject: Report
MIME-Version: 1.0
Content-Type: multipart/mixed;\x20
\tboundary="----=_Part_0_1531448569.1710428965999"

------=_Part_0_1531448569.1710428965999
Content-Type: text/plain; charset=UTF-8
Content-Transfer-Encoding: 7bit

Hello
------=_Part_0_1531448569.1710428965999
Content-Type: application/vnd.ms-excel; name=report.xls
Content-Transfer-Encoding: base64
Content-Disposition: attachment; filename=report.xls

0M8R4KGxGuEAAAAAAAAAAAAAAAAAAAAAPgADAP7/CQAGAAAAAAAAAAAAAAABAAAA
EQ==
------=_Part_0_1531448569.1710428965999--
""",
    ".NET": f"""\
MIME-Version: 1.0
From: "Shop" <{SENDER}>
To: "Ann" <ann@example.com>
Date: 14 Mar 2026 16:09:26 +0100
Subject: =?utf-8?B?R3LDvMOfZQ==?=
Content-Type: multipart/mixed; boundary=--boundary_0_5f1c7a90-2b3c-4d5e-8f6a-7b8c9d0e1f2a


----boundary_0_5f1c7a90-2b3c-4d5e-8f6a-7b8c9d0e1f2a
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: base64

PHA+SGVsbG88L3A+
----boundary_0_5f1c7a90-2b3c-4d5e-8f6a-7b8c9d0e1f2a
Content-Type: text/calendar; charset=utf-8; method=REQUEST; name=invite.ics
Content-Transfer-Encoding: quoted-printable
Content-Disposition: attachment; filename=invite.ics

BEGIN:VCALENDAR
END:VCALENDAR
----boundary_0_5f1c7a90-2b3c-4d5e-8f6a-7b8c9d0e1f2a--

""",
    "cron": f"""\
Received: by web-1 (Postfix, from userid 0)
\tid 4TxYzA1bC2d3E4; Sat, 14 Mar 2026 15:09:26 +0000 (UTC)
From: "(Cron Daemon)" <{SENDER}>
To: ann@example.com
Subject: Cron <root@web-1> test -x /usr/sbin/anacron
MIME-Version: 1.0
Content-Type: text/plain; charset=UTF-8
Content-Transfer-Encoding: 8bit
X-Cron-Env: <SHELL=/bin/sh>
X-Cron-Env: <HOME=/root>
X-Cron-Env: <LOGNAME=root>

done
""",
    "Debian's cron": f"""\
Received: by web-1 (Postfix)
\tid 4F2A81C0B5; Sat, 14 Mar 2026 15:09:26 +0000 (UTC)
From: {SENDER} (Cron Daemon)
To: ann@example.com
Subject: Cron <root@web-1> test -x /usr/sbin/anacron
MIME-Version: 1.0
Content-Type: text/plain; charset=UTF-8
Content-Transfer-Encoding: 8bit
X-Cron-Env: <SHELL=/bin/sh>
Message-Id: <20260314150926.4F2A81C0B5@web-1>
Date: Sat, 14 Mar 2026 15:09:26 +0000 (UTC)

done
""",
}

#: More of them, in which not every part is text or a file of an allowed type.
_WRITTEN_WITH_FORM: Final = {
    "nodemailer's invitation": f"""\
From: Shop <{SENDER}>
To: ann@example.com
Subject: Invitation
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="--_NmP-3a1b-Part_1"

----_NmP-3a1b-Part_1
Content-Type: multipart/alternative; boundary="--_NmP-3a1b-Part_2"

----_NmP-3a1b-Part_2
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 7bit

Hello
----_NmP-3a1b-Part_2
Content-Type: text/calendar; charset=utf-8; method=REQUEST
Content-Transfer-Encoding: 7bit

BEGIN:VCALENDAR
METHOD:REQUEST
END:VCALENDAR

----_NmP-3a1b-Part_2--

----_NmP-3a1b-Part_1
Content-Type: application/ics; name=invite.ics
Content-Transfer-Encoding: base64
Content-Disposition: attachment; filename=invite.ics

QkVHSU46VkNBTEVOREFSDQpNRVRIT0Q6UkVRVUVTVA0KRU5EOlZDQUxFTkRBUg0K
----_NmP-3a1b-Part_1--
""",
    "JavaMail attachFile": f"""\
From: {SENDER}
To: ann@example.com
Message-ID: <1283928880.1.1773500966000@web-1>
Subject: Invoice
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="----=_Part_0_1128032093.1773500966000"

------=_Part_0_1128032093.1773500966000
Content-Type: text/plain; charset=us-ascii
Content-Transfer-Encoding: 7bit

Hello
------=_Part_0_1128032093.1773500966000
Content-Type: application/octet-stream; name=invoice.pdf
Content-Transfer-Encoding: base64
Content-Disposition: attachment; filename=invoice.pdf

{_PDF}
------=_Part_0_1128032093.1773500966000--
""",
    "Postfix's report": f"""\
Received: by web-1 (Postfix)
\tid 5B2C91D0F3; Sat, 14 Mar 2026 15:09:26 +0000 (UTC)
Date: Sat, 14 Mar 2026 15:09:26 +0000 (UTC)
From: {SENDER} (Mail Delivery System)
Subject: Undelivered Mail Returned to Sender
To: ann@example.com
Auto-Submitted: auto-replied
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status;
\tboundary="4F2A81C0B5.1773500966/web-1"
Content-Transfer-Encoding: 8bit
Message-Id: <20260314150926.5B2C91D0F3@web-1>

This is a MIME-encapsulated message.

--4F2A81C0B5.1773500966/web-1
Content-Description: Notification
Content-Type: text/plain; charset=us-ascii

This is the mail system at host web-1.

--4F2A81C0B5.1773500966/web-1
Content-Description: Delivery report
Content-Type: message/delivery-status

Reporting-MTA: dns; web-1
X-Postfix-Queue-ID: 4F2A81C0B5

Final-Recipient: rfc822; bob@nomx.example
Action: failed
Status: 5.1.2

--4F2A81C0B5.1773500966/web-1
Content-Description: Undelivered Message
Content-Type: message/rfc822
Content-Transfer-Encoding: 8bit

Return-Path: <{SENDER}>
From: root <root@web-1>
To: bob@nomx.example
Subject: Invoice
Content-Type: multipart/mixed; boundary=inner

--inner

Hello
--inner
Content-Type: application/pdf; name=invoice.pdf
Content-Transfer-Encoding: base64

{_PDF}
--inner--

--4F2A81C0B5.1773500966/web-1--
""",
    "Thunderbird with a signature": f"""\
Content-Type: multipart/signed; micalg=pgp-sha512;
 protocol="application/pgp-signature";
 boundary="------------kTq0Jc1xY9dPpv3mZlqk1aB7"
Date: Sat, 14 Mar 2026 15:09:26 +0000
MIME-Version: 1.0
To: ann@example.com
From: Ann <{SENDER}>
Subject: Signed

This is an OpenPGP/MIME signed message (RFC 4880 and 3156)
--------------kTq0Jc1xY9dPpv3mZlqk1aB7
Content-Type: text/plain; charset=UTF-8; format=flowed
Content-Transfer-Encoding: base64

SGVsbG8K

--------------kTq0Jc1xY9dPpv3mZlqk1aB7
Content-Type: application/pgp-signature; name="OpenPGP_signature.asc"
Content-Description: OpenPGP digital signature
Content-Disposition: attachment; filename="OpenPGP_signature.asc"

-----BEGIN PGP SIGNATURE-----

iHUEABYKAB0WIQ==
-----END PGP SIGNATURE-----

--------------kTq0Jc1xY9dPpv3mZlqk1aB7--
""",
}


def _email_message() -> bytes:
    mail = EmailMessage()
    mail["From"] = f"Shop <{SENDER}>"
    mail["To"] = "Jörg <joerg@example.com>, ann@example.com"
    mail["Subject"] = "Prüfung " * 12
    mail["Date"] = datetime(2026, 3, 14, 15, 9, 26, tzinfo=UTC)
    mail.set_content("Hello naïve\n" * 20)
    mail.add_alternative("<p>Hello <img src='cid:logo'>", subtype="html")
    html = mail.get_body(("html",))
    assert isinstance(html, EmailMessage)
    html.add_related(b"\x89PNG", "image", "png", cid="<logo>", filename="logo.png")
    mail.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="Grüße.pdf")
    mail.add_attachment("a,b\n1,2\n", subtype="csv", filename="a.csv")
    return mail.as_bytes(policy=policy.SMTP)


def _django() -> bytes:
    mail = MIMEMultipart("mixed")
    alternative = MIMEMultipart("alternative")
    alternative.attach(MIMEText("Hello é", "plain", "utf-8"))
    alternative.attach(MIMEText("<p>Hello é", "html", "utf-8"))
    mail.attach(alternative)
    file = MIMEApplication(b"%PDF-1.4", "pdf")
    file.add_header("Content-Disposition", "attachment", filename=("utf-8", "", "Résumé.pdf"))
    mail.attach(file)
    mail["Subject"] = "=?utf-8?q?R=C3=A9sum=C3=A9?="
    mail["From"] = SENDER
    mail["To"] = "ann@example.com, bob@example.com"
    mail["Reply-To"] = "help@shop.example"
    mail["Date"] = formatdate(0)
    mail["Message-ID"] = "<171042896600.1.0123456789@web-1>"
    return mail.as_bytes().replace(b"\n", b"\r\n")


#: Program -> its message, with CR LF as line ends.
CLIENT_MESSAGES: Final[dict[str, bytes]] = {
    **{
        name: text.replace("\n", "\r\n").encode()
        for name, text in (_WRITTEN | _WRITTEN_WITH_FORM).items()
    },
    "Python EmailMessage": _email_message(),
    "Django": _django(),
}
