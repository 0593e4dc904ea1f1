"""Programs that make what is built, checked in or deployed."""
