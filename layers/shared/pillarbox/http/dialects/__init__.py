"""What the APIs in the shapes of other services share."""
