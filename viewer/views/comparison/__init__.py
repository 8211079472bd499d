"""What every view of two traces shows, computed without a browser."""
