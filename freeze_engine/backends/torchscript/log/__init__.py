"""Captures torch's log of ``_freeze_module`` and tells its passes apart."""
