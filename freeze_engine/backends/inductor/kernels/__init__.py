"""The kernels that Inductor generated, the nodes that each computes, and their times."""
