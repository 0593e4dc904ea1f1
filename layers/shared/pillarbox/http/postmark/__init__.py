"""The API in the shape of Postmark's, for code that sends with its clients.

It translates as `http.resend` does, and makes no promise of its own.
"""
