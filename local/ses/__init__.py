"""A stand-in for Amazon SES (API v2) that keeps each mail and publishes its events."""
