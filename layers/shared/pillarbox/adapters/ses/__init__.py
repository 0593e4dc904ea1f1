"""Amazon SES: sending, its events, its rate, and the identities of senders and domains."""
