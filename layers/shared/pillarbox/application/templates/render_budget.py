"""How often an account may let the service compile and render, and store templates."""

from dataclasses import dataclass
from typing import Final

from pillarbox.application.ports import Clock
from pillarbox.application.templates.ports import Renderings
from pillarbox.domain.accounts.quota import too_many, window_end

#: Two a second. The editor asks again when the author pauses, and waits after a refusal.
PER_MINUTE: Final = 120
#: A draft has up to 250 KB, and the editor saves it when its author pauses.
DRAFTS_PER_MINUTE: Final = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderBudget:
    """The budget of each account in a minute."""

    renderings: Renderings
    clock: Clock

    def take(self, account_id: str, renderings: int = 1) -> None:
        """Take one rendering for each source that is compiled.

        Raises:
            ServiceError: `rate_limit_exceeded`.
        """
        self._take(account_id, "render", "compile and render sources", PER_MINUTE, renderings)

    def take_draft(self, account_id: str) -> None:
        """Take one draft that is stored.

        Raises:
            ServiceError: `rate_limit_exceeded`.
        """
        self._take(account_id, "draft", "save drafts", DRAFTS_PER_MINUTE)

    def _take(self, account_id: str, kind: str, what: str, most: int, times: int = 1) -> None:
        now = self.clock()
        if not self.renderings.count(account_id, kind, now, most, times=times):
            message = f"An account can {what} {most} times a minute."
            raise too_many(message, most, window_end("minute", now) - now)
