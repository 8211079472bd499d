"""Records what Inductor does when `torch.compile` freezes a model (``torch._inductor.config.freezing``)."""
