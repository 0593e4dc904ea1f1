"""Alerts to the owners of accounts: raised where something happens, told by email and in chats."""
