"""The dashboard: a local web server, and the page it serves.

The page holds a websocket, over which it asks (`messages`) and is told of recordings (`jobs`) and recent traces
(`library`); traces, files and uploads travel over HTTP (`handlers`, `uploads`). Nothing is answered that `auth` does
not let in. The server imports no torch: recordings run in processes of their own.
"""
