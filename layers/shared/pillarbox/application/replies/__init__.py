"""Mail that comes back: answers to emails, and what programs write."""
