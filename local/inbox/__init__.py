"""The inbox: shows the mails that the SES stand-in accepted, to people and to programs."""
