"""The real CUDA caching allocator of many PyTorch releases as the oracle for ours.

`build` makes a harness around one release's own libc10_cuda.so, `scripts` draws random programs, `oracle` and `model`
run them on the real allocator and on ours, `compare` finds the first difference, `run_all` does it for every release.
Nothing here needs a GPU, a CUDA toolkit or an installed torch.
"""
