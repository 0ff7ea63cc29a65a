"""Why the GPU ran out of memory although memory looked free, and which fix works: proved by replay."""

__version__ = "0.1.0"
