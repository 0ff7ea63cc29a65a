"""Writes the parts of docs/settings.md that come from the code: the options and the findings. Run it after a change.

python scripts/write_settings_page.py
"""

from __future__ import annotations

import re
from pathlib import Path

from gapless.conf import OPTIONS, RELEASES, RULES, Option, Release
from gapless.conf.options import Kind

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"


def main() -> None:
    """Rewrites the page where it differs."""
    old = PAGE.read_text()
    new = with_parts(old)
    if new != old:
        PAGE.write_text(new)


def with_parts(page: str) -> str:
    """The page with its generated parts written anew; the rest as it is."""
    for name, part in (("options", options()), ("findings", findings())):
        pattern = rf"(<!-- generated: {name} -->\n).*?(<!-- end -->)"
        page = re.sub(pattern, lambda match, part=part: f"{match[1]}\n{part}\n{match[2]}", page, flags=re.DOTALL)
    return page


def options() -> str:
    """One section for each option."""
    return "\n".join(_option(option) for option in OPTIONS)


def _option(option: Option) -> str:
    facts = [f"default: {option.default}", f"since {option.since}", f"accepts {_accepts(option)}"]
    if option.aliases:
        facts.append(f"also written {', '.join(f'`{name}`' for name in option.aliases)}")
    if option.reset_since is not None:
        since = "" if option.reset_since <= option.since else f" (from {option.reset_since})"
        facts.append(f"set back by every later call{since}")
    if option.host_only:
        facts.append("concerns pinned host memory only")
    return f"### `{option.name}`\n\n{option.meaning}\n\n{'; '.join(facts)}.\n"


def _accepts(option: Option) -> str:
    if not option.bounds:
        return _in_code(option.kind)
    if len(option.bounds) == 1 or len({bounds.accepts for bounds in option.bounds}) == 1:
        return option.bounds[0].accepts
    ends = [_before(bounds.since) for bounds in option.bounds[1:]]
    spans = [
        f"{bounds.accepts} (up to {end})" if at == 0 else f"{bounds.accepts} ({_span(bounds.since, end)})"
        for at, (bounds, end) in enumerate(zip(option.bounds, [*ends, None], strict=True))
    ]
    return ", ".join(spans)


def _in_code(kind: Kind) -> str:
    return {Kind.BOOL: "`True` or `False`", Kind.BACKEND: "`native` or `cudaMallocAsync`"}.get(kind, kind.value)


def _before(release: Release) -> Release:
    return RELEASES[RELEASES.index(release) - 1]


def _span(start: Release, end: Release | None) -> str:
    if end is None:
        return f"from {start}"
    return str(start) if start == end else f"{start} to {end}"


def findings() -> str:
    """The table of what the check can find."""
    rows = [f"| {rule.code} | {rule.name} | {rule.severity} | {rule.finds} |" for rule in RULES]
    return "\n".join(["| code | name | severity | finds |", "|---|---|---|---|", *rows, ""])


if __name__ == "__main__":
    main()
