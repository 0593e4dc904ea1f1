"""Hand-written fakes for all ports of the application."""
