"""Fates of a module's attributes, reasons why some stay, and advice."""
