"""What a caller may know of its own API key: the key, its limits, and what is left of them."""

from dataclasses import dataclass, field
from datetime import datetime

from pillarbox.application.authentication import KeyCheck, SeenKeys, SenderLookup
from pillarbox.application.ports import Clock, Directory, KeyUses
from pillarbox.application.sender_quota import quota_state
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.accounts.quota import QuotaState
from pillarbox.domain.client_origin import ClientOrigin


@dataclass(frozen=True, slots=True)
class CallerProfile:
    """A caller, the state of its quota, and when its key last sent a message."""

    principal: Principal
    quota: QuotaState
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerLookup:
    """Describes callers. A key needs no permission for it."""

    directory: Directory
    key_uses: KeyUses
    clock: Clock
    check: KeyCheck
    seen: SeenKeys = field(default_factory=SeenKeys)

    def get(self, key_text: str, *, origin: ClientOrigin | None = None) -> CallerProfile:
        """Return the profile of a caller.

        Key, account and quota are one read; for a key that this process has not seen valid, key
        and account are read before.
        """
        callers = SenderLookup(self.directory, self.seen, lambda _: None, self.check)
        principal, directory = callers.look_up(key_text, origin=origin)
        key = principal.key
        return CallerProfile(
            principal,
            quota_state(principal, directory, self.clock()),
            self.key_uses.last_use(key.account_id, key.key_id),
        )
