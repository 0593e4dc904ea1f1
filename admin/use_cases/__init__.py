"""What only an operator does: check a stack, prepare a new one, move dead letters back."""
