"""List and count an account's messages, and keep the statistics behind that."""
