"""Hooks into torch's freeze, drives its passes, and keeps texts, graphs and clocks."""
