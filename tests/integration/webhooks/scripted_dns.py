"""A name server on the loopback address whose answers a test writes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from socketserver import BaseRequestHandler, ThreadingUDPServer
from typing import Any

import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset

from tests.servers import running

#: Records of one kind, in the order of the answer: `("alias.example.", "CNAME", "x.example.")`.
type Answer = tuple[tuple[str, str, str], ...]


@dataclass
class ScriptedDns:
    """The answers by name and type; a list has one for each query, and the last stays."""

    address: str = ""
    answers: dict[tuple[str, str], list[Answer]] = field(default_factory=dict)
    queries: list[tuple[str, str]] = field(default_factory=list)

    def set(self, name: str, *addresses: str) -> None:
        """Let a name have these addresses, always."""
        self.turns(name, addresses)

    def turns(self, name: str, *answers: tuple[str, ...]) -> None:
        """Let the lookups of a name get different addresses, one answer after the other."""
        for kind, colon in (("A", False), ("AAAA", True)):
            self.answers[f"{name}.", kind] = [
                tuple((f"{name}.", kind, text) for text in answer if (":" in text) is colon)
                for answer in answers
            ]

    def alias(self, *names: str, address: str) -> None:
        """Let each name be an alias of the next, and the last have an address."""
        links = tuple((f"{name}.", "CNAME", f"{target}.") for name, target in pairwise(names))
        kind = "AAAA" if ":" in address else "A"
        for each in ("A", "AAAA"):
            end = ((f"{names[-1]}.", kind, address),) if each == kind else ()
            self.answers[f"{names[0]}.", each] = [links + end]

    def answer(self, packet: bytes) -> bytes | None:
        query = dns.message.from_wire(packet)
        question = query.question[0]
        name, kind = question.name.to_text().lower(), dns.rdatatype.to_text(question.rdtype)
        self.queries.append((name, kind))
        response = dns.message.make_response(query)
        if name == "silent.example.":
            return None
        if name == "broken.example.":
            response.set_rcode(dns.rcode.SERVFAIL)
        elif (turns := self.answers.get((name, kind))) is None:
            response.set_rcode(dns.rcode.NXDOMAIN)
        else:
            for owner, of_kind, text in turns.pop(0) if len(turns) > 1 else turns[0]:
                response.answer.append(dns.rrset.from_text(owner, 0, "IN", of_kind, text))
        return response.to_wire()


@contextmanager
def scripted_dns() -> Iterator[ScriptedDns]:
    """Run a name server, and yield its script."""
    script = ScriptedDns()

    class Answers(BaseRequestHandler):
        def handle(self) -> None:
            packet, sock = self.request
            response: Any = script.answer(packet)
            if response is not None:
                sock.sendto(response, self.client_address)

    with running(ThreadingUDPServer(("127.0.0.1", 0), Answers)) as (host, port):
        script.address = f"{host}:{port}"
        yield script
