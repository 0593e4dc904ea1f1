"""The inbox: shows the emails that the SES stand-in accepted, to people and to programs."""
