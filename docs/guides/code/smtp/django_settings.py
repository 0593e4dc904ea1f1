import os

MAILERS = {
    "default": {
        "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "OPTIONS": {
            "host": os.environ["SMTP_HOST"],
            "port": int(os.environ["SMTP_PORT"]),
            "use_tls": True,
            "username": os.environ["SMTP_USERNAME"],
            "password": os.environ["SMTP_PASSWORD"],
            "timeout": 60,
        },
    }
}
DEFAULT_FROM_EMAIL = "hello@shop.example"  # a verified sender
