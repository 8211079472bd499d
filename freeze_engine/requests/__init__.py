"""What a user asks for, as plain data: options, inputs, arguments, and suggestions for misspelt names."""
