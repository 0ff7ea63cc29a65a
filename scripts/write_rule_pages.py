"""Writes docs/rules: one page for each code, from the files of the rules.

python scripts/write_rule_pages.py
"""

from __future__ import annotations

from pathlib import Path

from gapless.explain.page import page_of, table_of
from gapless.explain.rules import all_rules

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "rules"


def main() -> None:
    """Writes the pages anew."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.glob("*.md"):
        old.unlink()
    for rule in all_rules():
        (FOLDER / f"{rule.code}.md").write_text(page_of(rule), encoding="utf-8")
    (FOLDER / "README.md").write_text(table_of(all_rules()), encoding="utf-8")


if __name__ == "__main__":
    main()
