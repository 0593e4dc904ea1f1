"""The generated parts of the client packages: types, and a method for each operation."""
