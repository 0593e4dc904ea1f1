"""Preview keys that anybody gets from the widget, by confirming an address.

Each folded address has one account, and each such account one key. Both ids follow from the
address, so two requests at a time meet in the same records.
"""

import binascii
import hashlib
import hmac
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from pillarbox.domain.accounts.key import ACCOUNT_ID_LENGTH, KEY_ID_LENGTH, KEY_ID_PREFIX
from pillarbox.domain.accounts.suppression import hashed_mailbox
from pillarbox.domain.address import SIMULATOR_DOMAIN, domain_of, fold_address, mailbox_key
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import token_of

#: A key that sends nothing for so long does not send any more.
UNUSED_TIME: Final = timedelta(days=90)
#: The most keys in a day for one block of IP addresses, and for one domain that is not a mailbox
#: provider.
PER_BLOCK: Final = 3
PER_DOMAIN: Final = 20
#: The most codes in a day for one folded address: its reader may not have asked for any.
CODES_PER_ADDRESS: Final = 15
#: The most codes in a day in all, for each key that may be given.
CODES_PER_KEY: Final = 5
#: The account under which addresses are suppressed for the mail of all preview keys. No record of
#: an account has this id.
PREVIEW_LIST: Final = "preview"
#: The name of each key from the widget.
KEY_NAME: Final = "Preview widget"

#: The hosts that give strangers mailboxes. Somebody who has one address of such a domain has
#: nothing to do with the others. docs/decisions/sign-in.md says what an incomplete list means.
_PROVIDERS_TEXT: Final = """
126.com 139.com 163.com abv.bg alice.it aliyun.com aol.com arcor.de att.net bigpond.com
bluewin.ch bol.com.br btinternet.com centrum.cz charter.net comcast.net cox.net daum.net
docomo.ne.jp earthlink.net email.cz email.it ezweb.ne.jp fastmail.com fastmail.fm foxmail.com
free.fr freemail.hu freenet.de frontier.com gmail.com gmx.at gmx.ch gmx.com gmx.de gmx.net
googlemail.com hanmail.net hey.com home.nl hotmail.co.uk hotmail.com hotmail.de hotmail.es
hotmail.fr hotmail.it hushmail.com icloud.com inbox.com inbox.lv inbox.ru interia.pl kakao.com
laposte.net libero.it list.ru live.ca live.co.uk live.com live.fr live.nl mac.com mail.com
mail.de mail.ru mailbox.org mailfence.com me.com msn.com nate.com naver.com o2.pl online.de
onet.pl optonline.net optusnet.com.au orange.fr outlook.com outlook.de outlook.es outlook.fr
pm.me posteo.de posteo.net proton.me protonmail.ch protonmail.com qq.com rambler.ru
rediffmail.com rocketmail.com rogers.com runbox.com sapo.pt sbcglobal.net seznam.cz sfr.fr
shaw.ca sina.com sky.com skynet.be softbank.ne.jp sohu.com startmail.com sympatico.ca
t-online.de talktalk.net telenet.be telia.com telus.net terra.com.br tiscali.it tuta.com tuta.io
tutamail.com tutanota.com tutanota.de ukr.net uol.com.br verizon.net virgilio.it virginmedia.com
vk.com wanadoo.fr web.de windowslive.com wp.pl xs4all.nl xtra.co.nz ya.ru yahoo.ca yahoo.co.in
yahoo.co.jp yahoo.co.uk yahoo.com yahoo.com.au yahoo.com.br yahoo.de yahoo.es yahoo.fr yahoo.it
yandex.com yandex.ru yeah.net ymail.com zoho.com zohomail.com
"""
_MAILBOX_PROVIDERS: Final = frozenset(_PROVIDERS_TEXT.split())

SECRET_BYTES: Final = 16
_MAC_BYTES: Final = 16
_REPORT: Final = (
    rf"([0-9a-z]{{{ACCOUNT_ID_LENGTH}}})\.([A-Za-z0-9_-]{{4,400}})\.([0-9a-f]{{{2 * _MAC_BYTES}}})"
)


def check_own_recipients(owner: str, addresses: Iterable[str]) -> None:
    """Refuse parsed addresses to which a key of the widget may not send.

    It may send to the confirmed address, its domain unless that is a mailbox provider, and SES's
    simulator.
    """
    domains = {SIMULATOR_DOMAIN}
    if not is_mailbox_provider(domain_of(owner)):
        domains.add(domain_of(owner))
    for address in addresses:
        own = fold_address(address) == fold_address(owner)
        if not own and domain_of(address) not in domains:
            raise ServiceError(
                "recipient_not_allowed",
                "This preview key sends to the address that you have confirmed, to addresses of"
                " its domain unless that belongs to a mailbox provider, and to"
                f" {SIMULATOR_DOMAIN}.",
            )


@dataclass(frozen=True, slots=True)
class Report:
    """What the token in the link of a test mail says: who sent it to whom, and the proof."""

    account_id: str
    mailbox: str
    mac: str = field(repr=False)

    def is_signed(self, secret: str) -> bool:
        """Return whether the token was made with an account's secret."""
        return hmac.compare_digest(self.mac, _mac(secret, self.mailbox))

    def __str__(self) -> str:
        mailbox = urlsafe_b64encode(self.mailbox.encode()).decode().rstrip("=")
        return f"{self.account_id}.{mailbox}.{self.mac}"


def new_report(account_id: str, secret: str, address: str) -> Report:
    """Create the token for the recipient of a test mail."""
    mailbox = mailbox_key(address)
    return Report(account_id, mailbox, _mac(secret, mailbox))


def parse_report(text: str) -> Report | None:
    match = re.fullmatch(_REPORT, text)
    if match is None:
        return None
    try:
        mailbox = urlsafe_b64decode(match[2] + "=" * (-len(match[2]) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return Report(match[1], mailbox, match[3])


def stopped_mailbox(address: str) -> str:
    """Return the text in `PREVIEW_LIST` that stops preview mail to all forms of an address."""
    return hashed_mailbox(PREVIEW_LIST, fold_address(address))


def folded_digest(address: str) -> str:
    """Return the digest of a folded address, for flows and counts of preview keys."""
    return hashlib.sha256(f"preview {fold_address(address)}".encode()).hexdigest()


def account_id_for(key: bytes, address: str) -> str:
    """Return the id of an address's account. Only the service's key computes it."""
    digest = hmac.digest(key, f"preview account {fold_address(address)}".encode(), "sha256")
    return token_of(digest, ACCOUNT_ID_LENGTH)


def preview_key_id(account_id: str) -> str:
    """Return the id of the only key that the widget makes for an account."""
    return f"{KEY_ID_PREFIX}{account_id}{'0' * KEY_ID_LENGTH}"


def is_mailbox_provider(domain: str) -> bool:
    """Return whether strangers share a domain."""
    return domain in _MAILBOX_PROVIDERS


def is_unused(created_at: datetime, last_used: datetime | None, now: datetime) -> bool:
    """Return whether a key has expired, because it sent nothing for too long."""
    return now >= max(created_at, last_used or created_at) + UNUSED_TIME


def preview_keys_closed() -> ServiceError:
    """Return the error for a service without the widget."""
    return ServiceError(
        "preview_keys_closed",
        "This service gives no preview keys to visitors. Ask its operator for one.",
    )


def _mac(secret: str, mailbox: str) -> str:
    return hmac.digest(secret.encode(), f"report {mailbox}".encode(), "sha256")[:_MAC_BYTES].hex()
