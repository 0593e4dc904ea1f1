"""The SMTP relay: message submission (RFC 6409) to the same use cases as the HTTP API."""
