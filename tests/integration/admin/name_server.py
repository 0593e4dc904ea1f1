"""A name server with a few records that the local stack's name server does not have."""

from socketserver import BaseRequestHandler

import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset

ZONE = {
    ("long.example.", "TXT"): '"v=spf1 " "include:amazonses.com ~all"',
    ("alias.example.", "CNAME"): "Token.DKIM.amazonses.com.",
    ("mail.example.", "MX"): "10 feedback.example.",
    ("odd.example.", "TXT"): '"\\255"',
}


class Answers(BaseRequestHandler):
    """Answers from ZONE. `broken.example` fails, and other names do not exist."""

    def handle(self) -> None:
        data, socket = self.request
        query = dns.message.from_wire(data)
        question = query.question[0]
        name, kind = question.name.to_text(), dns.rdatatype.to_text(question.rdtype)
        reply = dns.message.make_response(query)
        if (name, kind) in ZONE:
            reply.answer.append(dns.rrset.from_text(name, 60, "IN", kind, ZONE[name, kind]))
        elif name == "broken.example.":
            reply.set_rcode(dns.rcode.SERVFAIL)
        elif not any(name == owner for owner, _ in ZONE):
            reply.set_rcode(dns.rcode.NXDOMAIN)
        socket.sendto(reply.to_wire(), self.client_address)
