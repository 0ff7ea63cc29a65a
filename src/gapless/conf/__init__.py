"""The settings string of PyTorch's allocator (PYTORCH_CUDA_ALLOC_CONF): read as each release does, checked, changed.

>>> from gapless.conf import Release, parse
>>> parse("max_split_size_mb:20", Release.parse("2.9.1")).problems[0].torch_error
'CachingAllocator option max_split_size_mb too small, must be > 20'
"""

from __future__ import annotations

from gapless.conf.check import RULES, USES, check, corrected
from gapless.conf.findings import Finding
from gapless.conf.merge import format_settings, line_to_copy, merge
from gapless.conf.options import OPTIONS, Option
from gapless.conf.parse import ParsedConf, ParsedItem, parse
from gapless.conf.problems import Problem
from gapless.conf.releases import NEWEST, RELEASES, Release
from gapless.conf.settings import Settings
from gapless.conf.variables import Environment, read_environment
from gapless.rule import Rule, Severity

__all__ = [
    "NEWEST",
    "OPTIONS",
    "RELEASES",
    "RULES",
    "USES",
    "Environment",
    "Finding",
    "Option",
    "ParsedConf",
    "ParsedItem",
    "Problem",
    "Release",
    "Rule",
    "Settings",
    "Severity",
    "check",
    "corrected",
    "format_settings",
    "line_to_copy",
    "merge",
    "parse",
    "read_environment",
]
