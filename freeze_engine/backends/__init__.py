"""The freezing engines that can be recorded, one package each."""
