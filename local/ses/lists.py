"""Lists of the developer guide of SES, copied from its pages (docs.aws.amazon.com/ses/latest/dg/).

The service has lists of its own. Tests compare them, so that a fault in one shows.
"""

from typing import Final

#: "Amazon SES header fields", header-fields.html, read on 2026-11-28: what may occur only once.
SINGLE_FIELDS: Final = frozenset(
    """
    Accept-Language acceptLanguage Archived-At Auto-Submitted Bounces-to Comments
    Content-Alternative Content-Base Content-Class Content-Description Content-Disposition
    Content-Duration Content-ID Content-Language Content-Length Content-Location Content-MD5
    Content-Transfer-Encoding Content-Type Date Delivered-To Disposition-Notification-Options
    Disposition-Notification-To DKIM-Signature DomainKey-Signature Errors-To From Importance
    In-Reply-To Keywords List-Archive List-Help List-Id List-Owner List-Post List-Subscribe
    List-Unsubscribe List-Unsubscribe-Post Message-Context Message-ID MIME-Version Organization
    Original-From Original-Message-ID Original-Recipient Original-Subject Precedence Priority
    References Reply-To Return-Path Return-Receipt-To Sender Solicitation Sensitivity Subject
    Thread-Index Thread-Topic User-Agent VBR-Info
    """.lower().split()
)
#: The same of RFC 5322 section 3.6, which the page does not name.
SINGLE_RECIPIENT_FIELDS: Final = frozenset({"to", "cc", "bcc"})
#: "Unsupported attachment types", attachments.html. Compared on 2026-11-28 with the copy at
#: resend.com/docs/knowledge-base/what-attachment-types-are-not-supported, which leaves out .ade.
UNSUPPORTED_TYPES: Final = frozenset(
    """
    ade adp app asp bas bat cer chm cmd com cpl crt csh der exe fxp gadget hlp hta inf ins isp its
    js jse ksh lib lnk mad maf mag mam maq mar mas mat mau mav maw mda mdb mde mdt mdw mdz msc msh
    msh1 msh2 mshxml msh1xml msh2xml msi msp mst ops pcd pif plg prf prg reg scf scr sct shb shs
    sys ps1 ps1xml ps2 ps2xml psc1 psc2 tmp url vb vbe vbs vps vsmacros vss vst vsw vxd ws wsc wsf
    wsh xnk
    """.split()  # noqa: SIM905  as a list it has 90 lines
)
