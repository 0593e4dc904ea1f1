"""The API in the shape of Resend's: code written for its SDKs sends with another base URL.

It translates requests and responses, and makes no promise of its own: a send becomes the body of
`POST /v1/emails` and takes the same way. Each field is carried, or refused by its name.
"""
