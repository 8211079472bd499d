"""The quantised layers of a trace: what freezing made of their weights and operators, and why."""
