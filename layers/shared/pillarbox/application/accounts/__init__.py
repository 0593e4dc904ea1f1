"""Accounts with their keys, senders, domains, suppressions, and alerts to their owners."""
