"""The summary of a trace: the verdict in a sentence, what to do next, and the passes that mattered."""
