"""Captures torch's log of ``_freeze_module`` and separates its passes."""
