"""The virtual GPU: the user's own PyTorch, a stock CUDA build, on a pretend card.

Kernels compute nothing; every allocation, every error and every snapshot is the real code's. The card itself, and the
libraries that stand in for NVIDIA's, are in virtual_gpu/; what is here finds the installed PyTorch, puts the card under
it, and gathers what a run took.
"""
