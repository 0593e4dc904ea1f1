"""The inbox: what the stand-in for SES has taken, for people and for programs."""
