"""One page for each code, equal to what its rule says now."""

from __future__ import annotations

from gapless.explain.page import page_of, table_of
from gapless.explain.rules import all_rules, rule_of
from tests.recordings import ROOT

FOLDER = ROOT / "docs" / "rules"


def test_pages_are_up_to_date() -> None:
    expected = {f"{rule.code}.md": page_of(rule) for rule in all_rules()} | {"README.md": table_of(all_rules())}

    found = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}

    assert found == expected, "run: python scripts/write_rule_pages.py"


def test_codes_are_unique_and_found_by_name() -> None:
    codes = [rule.code for rule in all_rules()]

    assert len(codes) == len(set(codes)) >= 24
    assert all(rule_of(code.lower()) for code in codes)
    assert rule_of("FRAG299") is None
