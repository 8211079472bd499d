"""What each pass contributes on its own: the freeze is made again without it, and run in turns with the whole one."""
