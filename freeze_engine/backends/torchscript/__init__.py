"""Records `torch.jit.freeze`, `run_frozen_optimizations` and `optimize_for_inference`."""
