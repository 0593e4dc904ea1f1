"""Who calls: keys and sessions."""

from functools import cached_property
from typing import TYPE_CHECKING

from pillarbox.application.authentication import Authentication, KeyCheck
from pillarbox.wiring.clock import utc_now
from pillarbox.wiring.stores import Stores

if TYPE_CHECKING:
    from pillarbox.application.caller import CallerLookup
    from pillarbox.application.sign_in.authentication import (
        CallerAuthentication,
        OperatorAuthentication,
        SessionAuthentication,
    )


class CallerWiring(Stores):
    """Makes each use case of this area once."""

    @cached_property
    def authentication(self) -> Authentication:
        """Authenticate the caller of a route that takes keys only."""
        return Authentication(self.directory, self.key_check)

    @cached_property
    def key_check(self) -> KeyCheck:
        """Decide whether a key that was read works."""
        return KeyCheck(utc_now, self.is_of_edge)

    @cached_property
    def caller_authentication(self) -> "CallerAuthentication":
        """Authenticate the caller of a route that takes keys and sessions."""
        from pillarbox.application.sign_in.authentication import CallerAuthentication

        return CallerAuthentication(
            self.authentication, self.session_authentication, self.directory, self.change_log
        )

    @cached_property
    def session_authentication(self) -> "SessionAuthentication":
        """Authenticate the caller of a route that takes sessions only."""
        from pillarbox.application.sign_in.authentication import SessionAuthentication

        return SessionAuthentication(self.session_store, utc_now)

    @cached_property
    def operator_authentication(self) -> "OperatorAuthentication":
        """Authenticate the caller of a route that only operators may use."""
        from pillarbox.application.sign_in.authentication import OperatorAuthentication

        return OperatorAuthentication(
            self.session_authentication,
            self.user_store,
            self.authentication,
            self.change_log,
        )

    @cached_property
    def caller_lookup(self) -> "CallerLookup":
        from pillarbox.application.caller import CallerLookup

        return CallerLookup(
            directory=self.directory,
            key_uses=self.key_uses,
            clock=utc_now,
            check=self.key_check,
        )
