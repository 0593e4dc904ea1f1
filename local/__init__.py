"""The whole service on one machine, with stand-ins for AWS, SES and DNS."""
