"""The files that let programs use a running stack: `env` for shells, and certificates to trust."""

import shlex
from pathlib import Path
from typing import Any, Final

from local.private import write_private
from pillarbox.settings import PREFIX

#: Where systems keep the authorities that they trust, as one file.
_AUTHORITIES: Final = (
    Path("/etc/ssl/certs/ca-certificates.crt"),
    Path("/etc/pki/tls/certs/ca-bundle.crt"),
    Path("/etc/ssl/cert.pem"),
)


def write_authorities(path: Path, certificate: bytes) -> None:
    """Write the system's authorities and our certificate.

    `SSL_CERT_FILE` replaces what a program trusts. With ours alone, it could reach no other host.
    """
    system = next((file for file in _AUTHORITIES if file.is_file()), None)
    authorities = system.read_bytes().rstrip() + b"\n" if system else b""
    write_private(path, (authorities + certificate).decode("utf-8", "replace"))


def environment_file(state: dict[str, Any], authorities: Path) -> str:
    """Return the text of the file that a shell can source.

    Args:
        state: the content of stack.json.
        authorities: the file of `write_authorities`.
    """
    smtp = state["smtp"]
    variables = {
        f"{PREFIX}URL": state["base_url"],
        f"{PREFIX}INBOX_URL": state["inbox_url"],
        f"{PREFIX}KEY": state["keys"]["live"],
        f"{PREFIX}TEMPLATE_ID": state["template_id"],
        "SMTP_HOST": smtp["host"],
        "SMTP_PORT": str(smtp["port"]),
        "SMTP_USERNAME": "apikey",
        "SMTP_PASSWORD": state["keys"]["live"],
        "NODE_EXTRA_CA_CERTS": smtp["certificate"],
        "SSL_CERT_FILE": str(authorities),
    }
    return "".join(f"export {name}={shlex.quote(text)}\n" for name, text in variables.items())
