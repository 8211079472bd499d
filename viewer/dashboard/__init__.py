"""The dashboard: a local web server and the page that it serves.

Over a websocket the page sends requests (`messages`), and the server pushes recordings (`jobs`) and recent traces
(`library`); traces, files and uploads travel over HTTP (`handlers`, `uploads`). `auth` admits every request before it
is answered. The server imports no torch: recordings run in child processes.
"""
