"""The recorder for real GPUs: it waits beside a training, and writes down what memory was like when it fails.

It costs what PyTorch's own recording costs, and some microseconds a step. It never raises into the training, never
waits for the GPU, and writes only into its folder. `watch` begins; `gapless.record` and the environment variable
GAPLESS_RECORD are the two ways to it.
"""
