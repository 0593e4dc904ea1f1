"""The built-in starter templates and the templates that accounts save."""
