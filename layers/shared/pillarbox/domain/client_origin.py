"""Where a request came from. Every send loads this module, so it imports no library."""

from collections.abc import Callable


class ClientOrigin:
    """Where a request came from, as its connection and its headers say.

    Anybody can send the headers to the gateway. So they count only with the edge's secret.
    """

    __slots__ = ("_address", "_edge_secret", "_seen_by_edge")

    def __init__(self, address: str, seen_by_edge: str = "", edge_secret: str = "") -> None:
        """Store the address of the connection, X-Pillarbox-Client and X-Pillarbox-Edge."""
        self._address = address
        self._seen_by_edge = seen_by_edge
        self._edge_secret = edge_secret

    def client(self, is_of_edge: Callable[[str], bool]) -> str:
        """Return the address of the client. `is_of_edge` returns whether a text is the secret."""
        if self._seen_by_edge and is_of_edge(self._edge_secret):
            return self._seen_by_edge
        return self._address
