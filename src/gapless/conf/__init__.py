"""The settings string of PyTorch's allocator (PYTORCH_CUDA_ALLOC_CONF): read as each release does, checked, changed.

>>> from gapless.conf import Release, parse
>>> parse("max_split_size_mb:20", Release.parse("2.9.1")).problems[0].torch_error
'CachingAllocator option max_split_size_mb too small, must be > 20'
"""

from __future__ import annotations

from gapless.conf.merge import format_settings, merge
from gapless.conf.options import OPTIONS, Option
from gapless.conf.parse import ParsedConf, ParsedItem, parse
from gapless.conf.problems import Problem
from gapless.conf.releases import NEWEST, RELEASES, Release
from gapless.conf.settings import Settings

__all__ = [
    "NEWEST",
    "OPTIONS",
    "RELEASES",
    "Option",
    "ParsedConf",
    "ParsedItem",
    "Problem",
    "Release",
    "Settings",
    "format_settings",
    "merge",
    "parse",
]
