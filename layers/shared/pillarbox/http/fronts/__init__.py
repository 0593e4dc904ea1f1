"""What the fronts in the shapes of other services share."""
