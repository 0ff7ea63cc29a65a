"""docs/settings.md says what the code says."""

from __future__ import annotations

from gapless.conf import OPTIONS, RULES
from scripts.write_settings_page import PAGE, with_parts


def test_generated_parts_are_up_to_date() -> None:
    page = PAGE.read_text()

    assert with_parts(page) == page, "run 'python scripts/write_settings_page.py'"


def test_page_has_every_option_and_every_code() -> None:
    page = PAGE.read_text()

    assert [option.name for option in OPTIONS if f"### `{option.name}`" not in page] == []
    assert [rule.code for rule in RULES if f"| {rule.code} |" not in page] == []
