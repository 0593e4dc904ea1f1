"""Tell an account's webhook endpoints what happened to its emails."""
