"""What becomes of a model's attributes in a compile, and which constants hold their values."""
