"""How often an account may let the service compile and render: previews, publications, tests."""

from dataclasses import dataclass
from typing import Final

from pillarbox.application.ports import Clock
from pillarbox.application.templates.ports import Renderings
from pillarbox.domain.accounts.quota import too_many, window_end

#: Two a second. The editor asks again when the author pauses, and waits after a refusal.
PER_MINUTE: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderBudget:
    """The budget of each account in a minute."""

    renderings: Renderings
    clock: Clock

    def take(self, account_id: str) -> None:
        """Take one rendering.

        Raises:
            ServiceError: `rate_limit_exceeded`.
        """
        now = self.clock()
        if not self.renderings.count(account_id, now, PER_MINUTE):
            raise too_many(
                f"An account can preview, publish and test templates {PER_MINUTE} times a minute.",
                PER_MINUTE,
                window_end("minute", now) - now,
            )
