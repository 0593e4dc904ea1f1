"""Accept emails, over HTTP and SMTP, one at a time or in batches."""
