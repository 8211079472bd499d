"""Runs the executable snapshots of a recording: latency, numeric error, constant memory."""
