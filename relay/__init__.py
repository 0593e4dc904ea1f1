"""The SMTP relay: message submission (RFC 6409) into the same service as the HTTP API."""
