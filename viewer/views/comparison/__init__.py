"""The data of every view of two traces, computed without a browser."""
