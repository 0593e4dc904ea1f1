"""Accounts with their keys, senders, domains and suppressions, as an operator manages them."""
