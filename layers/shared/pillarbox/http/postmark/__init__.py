"""A front in the shape of Postmark's API, for code that sends with its clients.

It translates as `http.resend` does, and makes no promise of its own.
"""
