"""Why the GPU ran out of memory although memory looked free, and which fix works: proved by replay."""

__version__ = "0.1.0"
__all__ = ["__version__", "record"]

TYPE_CHECKING = False  # as typing's, which takes longer to import than all of this
if TYPE_CHECKING:
    from gapless.recorder.record import record


def __getattr__(name: str) -> object:
    """The recorder is loaded by those who record."""
    if name == "record":
        from gapless.recorder.record import record as found  # noqa: PLC0415

        return found
    raise AttributeError(f"module 'gapless' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Its names, those that are not loaded yet among them."""
    return sorted({*globals(), *__all__})
