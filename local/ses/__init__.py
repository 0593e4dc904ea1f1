"""A stand-in for Amazon SES (API v2) that keeps each email and publishes its events."""
