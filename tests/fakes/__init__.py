"""Hand-written stand-ins for everything that the use-cases need of the world."""
