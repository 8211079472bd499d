"""What becomes of a module's attributes, why some stay, and what to do about it."""
