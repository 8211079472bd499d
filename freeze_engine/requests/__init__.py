"""The user's request as plain data: options, inputs, arguments, and suggestions for misspelt names."""
