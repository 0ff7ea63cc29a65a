"""Each rule: what it finds, and the near misses that it must leave alone."""

from __future__ import annotations

import re

import pytest

from gapless.conf import NEWEST, RULES, Finding, Release, Settings, Severity, check, parse, read_environment
from gapless.conf.answer import answer
from gapless.errors import ConfError
from gapless.rule import SEVERITIES

EXPANDABLE = "expandable_segments:True"


def found(text: str, code: str, torch: str = "2.14", **more: object) -> list[Finding]:
    findings = check(text, Release.parse(torch), **more)  # type: ignore[arg-type]
    return [finding for finding in findings if finding.code == code]


def only(text: str, code: str, torch: str = "2.14", **more: object) -> Finding:
    findings = found(text, code, torch, **more)
    assert len(findings) == 1, [finding.code for finding in findings]
    return findings[0]


def test_codes_are_listed_once_and_described() -> None:
    codes = [rule.code for rule in RULES]

    assert codes == sorted(set(codes))
    assert len({rule.name for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert re.fullmatch(r"CONF6\d\d", rule.code)
        assert all(text.endswith(".") for text in (rule.finds, rule.why, rule.measured, rule.do)), rule.code
        assert all(link.startswith("https://") for link in rule.links), rule.code


@pytest.mark.parametrize(
    ("source", "codes"),
    [
        ("The environment variables are looked at", ["CONF618", "CONF619", "CONF620", "CONF621"]),
        ("Of a call at run time", ["CONF641", "CONF642", "CONF643"]),
    ],
)
def test_what_no_settings_text_shows_is_measured_elsewhere(source: str, codes: list[str]) -> None:
    assert [rule.code for rule in RULES if rule.measured.startswith(source)] == codes


CLEAN = ("", "max_split_size_mb:128", "garbage_collection_threshold:0.8,per_process_memory_fraction:0.9")


@pytest.mark.parametrize("text", CLEAN)
def test_sound_settings_give_no_error_and_no_warning(text: str) -> None:
    assert {finding.severity for finding in check(text)} <= {"info"}


# Reading ----------------------------------------------------------------------------------------------------------


def test_conf601_names_the_nearest_option() -> None:
    finding = only("garbage_collection_treshold:0.8", "CONF601")

    assert finding.hint == "did you mean garbage_collection_threshold?"
    assert finding.severity == "error"
    assert "PyTorch says: Unrecognized key 'garbage_collection_treshold' in CUDA allocator config." in finding.message


def test_conf601_says_nothing_of_names_that_are_not_near() -> None:
    assert "did you mean" not in only("zzzzzz:1", "CONF601").hint


def test_conf601_knows_names_from_elsewhere() -> None:
    assert "for releases before 2.0" in only("roundup_bypass_threshold_mb:64", "CONF601").hint
    assert "after 2.14" in only("expandable_segments_reserve:0.5", "CONF601").hint


def test_conf601_sees_an_equals_sign_and_a_lost_value() -> None:
    assert only("max_split_size_mb=100", "CONF601").hint.endswith("like max_split_size_mb:100")
    assert "stands where an option's name is expected" in only("max_split_size_mb:64,128", "CONF601").message


def test_conf602_says_when_the_option_came() -> None:
    finding = only("large_segment_size_mb:64", "CONF602", "2.10")

    assert finding.message.startswith("PyTorch 2.10 does not know large_segment_size_mb; it came with 2.11")
    assert found("large_segment_size_mb:64", "CONF602", "2.11") == []


def test_conf603_gives_the_range_of_the_release() -> None:
    assert "is 20; PyTorch 2.9 accepts more than 20, in MiB" in only("max_split_size_mb:20", "CONF603", "2.9").message
    assert found("max_split_size_mb:20", "CONF603", "2.10") == []
    text = "large_segment_size_mb:64,max_split_size_mb:63"
    assert "accepts 64 or more, in MiB" in only(text, "CONF603").message


def test_conf603_covers_switches_and_numbers() -> None:
    assert only("expandable_segments:true", "CONF603").hint == "write expandable_segments:True"
    assert only("expandable_segments:0", "CONF603").hint == "write expandable_segments:False"
    assert "not a number that PyTorch can read" in only("garbage_collection_threshold:high", "CONF603").message
    assert (
        "12 in roundup_power2_divisions is not a power of two" in only("roundup_power2_divisions:12", "CONF603").message
    )


def test_problems_after_the_first_are_named_as_well() -> None:
    findings = check("max_split_size_mb:5,expandable_segments:yes,frobnicate:1,backend:native")

    messages = [finding.message for finding in findings if finding.severity == "error"]
    assert len(messages) == 3
    assert [message.startswith("further on, ") for message in messages].count(True) == 2


def test_conf604_is_for_punctuation() -> None:
    for text in ("max_split_size_mb", "max_split_size_mb:", "roundup_power2_divisions:[256:1"):
        assert only(text, "CONF604").severity == "error"
    assert only("backend", "CONF604").message.endswith("; import torch already ends the process")
    assert "import torch" not in only("backend", "CONF604", "2.9").message
    assert "import torch" not in only("backend", "CONF604", previous=Settings()).message
    assert "seen to crash" in only("roundup_power2_divisions:[256:1", "CONF604", "2.6").message


# Values -----------------------------------------------------------------------------------------------------------


def test_conf605_says_which_duplicate_counts() -> None:
    finding = only("max_split_size_mb:64,max_split_size_mb:128", "CONF605")

    assert finding.message == "max_split_size_mb is set twice; 128 counts, 64 does not"


def test_conf605_sees_through_aliases() -> None:
    assert found("release_lock_on_hipmalloc:True,release_lock_on_cudamalloc:True", "CONF605")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max_split_size_mb:512MB", "max_split_size_mb:512MB is read as 512"),
        ("max_split_size_mb:100.5", "max_split_size_mb:100.5 is read as 100"),
        ("garbage_collection_threshold:0.8x", "garbage_collection_threshold:0.8x is read as 0.8"),
        ("max_split_size_mb:-1", "max_split_size_mb:-1 is read as 17592186044415"),
        ("roundup_power2_divisions:[256:2x,512:4]", "roundup_power2_divisions:[256:2x,512:4] is read as [256:2,512:4]"),
    ],
)
def test_conf606_says_what_a_number_is_read_as(text: str, said: str) -> None:
    assert only(text, "CONF606").message == said


@pytest.mark.parametrize(
    "text",
    ["max_split_size_mb:+512", "garbage_collection_threshold:.5", "roundup_power2_divisions:[1:2,>:4,]"],
)
def test_conf606_leaves_whole_numbers_alone(text: str) -> None:
    assert found(text, "CONF606") == []


@pytest.mark.parametrize("text", ["max_split_size_mb,100", "max_split_size_mb:100:", "expandable_segments:True]"])
def test_conf607_finds_what_2_10_steps_over(text: str) -> None:
    assert found(text, "CONF607")
    assert not parse(text).problems
    assert parse(text, Release(2, 9)).problems


# Effects ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max_non_split_rounding_mb:64", "requests of max_split_size_mb or more, which is unlimited"),
        ("pinned_num_register_threads:8", "it needs pinned_use_cuda_host_register:True"),
        ("roundup_power2_divisions:1", "a division of 1 is the same as off"),
        ("pinned_max_round_threshold_mb:64,pinned_max_cached_size_mb:32", "are not rounded anyway"),
    ],
)
def test_conf608_names_what_is_missing(text: str, said: str) -> None:
    finding = only(text, "CONF608")

    assert said in finding.message
    assert finding.severity == "warning"


@pytest.mark.parametrize(
    "text",
    [
        "max_non_split_rounding_mb:64,max_split_size_mb:128",
        "pinned_num_register_threads:8,pinned_use_cuda_host_register:True",
        "roundup_power2_divisions:2",
    ],
)
def test_conf608_is_silent_when_it_is_there(text: str) -> None:
    assert found(text, "CONF608") == []


def test_conf608_mentions_defaults_mildly() -> None:
    finding = only("expandable_segments:False", "CONF608")

    assert (finding.message, finding.severity) == ("expandable_segments:False is the default", "info")


def test_conf609_wants_a_limit_for_collection() -> None:
    text = "garbage_collection_threshold:0.8"

    assert only(text, "CONF609", "2.9").hint.endswith("PyTorch 2.9 has no option for it")
    assert only(text, "CONF609", "2.10").hint.startswith("add per_process_memory_fraction:0.95")
    assert found(text + ",per_process_memory_fraction:0.9", "CONF609") == []
    assert found(text + ",per_process_memory_fraction:1.0", "CONF609")


def test_conf610_lists_what_the_other_backend_ignores() -> None:
    finding = only("backend:cudaMallocAsync,max_split_size_mb:64", "CONF610")

    assert finding.message.startswith("backend:cudaMallocAsync ignores max_split_size_mb")
    assert only("backend:cudaMallocAsync", "CONF610").severity == "info"
    assert found("backend:native,max_split_size_mb:64", "CONF610") == []


# Contradictions ---------------------------------------------------------------------------------------------------


def test_conf611_is_an_error_where_pytorch_asserts() -> None:
    text = f"{EXPANDABLE},max_split_size_mb:128"

    assert only(text, "CONF611").severity == "warning"
    assert "free blocks of 128 MiB or more are refused to requests under 128 MiB" in only(text, "CONF611").message
    old = only(text, "CONF611", "2.4")
    assert old.severity == "error"
    assert old.message.endswith("when memory runs out, PyTorch 2.4 stops with an internal assertion")


def test_conf611_needs_both() -> None:
    assert found(EXPANDABLE, "CONF611") == found("max_split_size_mb:128", "CONF611") == []


def test_conf612_names_the_limit_of_the_option() -> None:
    text = "throw_on_cudamalloc_oom:True"

    assert "go over the whole card" in only(text, "CONF612").message
    assert "go over 0.9 of the card" in only(text + ",per_process_memory_fraction:0.9", "CONF612").message
    assert found("throw_on_cudamalloc_oom:False", "CONF612") == []


def test_conf613_is_for_a_fraction_of_zero() -> None:
    assert only("per_process_memory_fraction:0", "CONF613").severity == "error"
    assert found("per_process_memory_fraction:0.01", "CONF613") == []


def test_conf614_is_for_odd_pages_of_expandable_segments() -> None:
    assert only(f"{EXPANDABLE},large_segment_size_mb:33", "CONF614").hint == "use 34"
    assert found(f"{EXPANDABLE},large_segment_size_mb:34", "CONF614") == []
    assert found("large_segment_size_mb:33", "CONF614") == []


# Rounding ---------------------------------------------------------------------------------------------------------


def test_conf615_gives_the_real_ranges() -> None:
    text = "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]"
    new, old = only(text, "CONF615", "2.10"), only(text, "CONF615", "2.9")

    assert "below 512 MiB: off; 512 MiB to 1 GiB: 2; 1 GiB to 2 GiB: 4; from 2 GiB: 8" in new.message
    assert "below 512 MiB: off; 512 MiB to 1 GiB: 2; from 1 GiB: 8" in old.message
    assert (new.severity, new.measurements["growth_fraction_most"]) == ("info", 0.5)
    assert "(512.00 MiB + 1 byte takes 768.00 MiB)" in new.message


def test_conf615_warns_of_gaps() -> None:
    finding = only("roundup_power2_divisions:[256:2,1024:4]", "CONF615")

    assert finding.severity == "warning"
    assert "sizes between listed ones are left off" in finding.message
    assert found("roundup_power2_divisions:[256:0,512:0]", "CONF615") == []


def test_conf616_is_for_ones_up_to_2_3() -> None:
    text = "roundup_power2_divisions:1"

    assert found(text, "CONF616", "2.3")
    assert found(text, "CONF616", "2.4") == []


# Releases and variables -------------------------------------------------------------------------------------------


def test_conf617_tells_how_other_releases_read_it() -> None:
    messages = [finding.message for finding in found("roundup_power2_divisions:[4:2,>:8]", "CONF617", "2.9")]

    assert messages == [
        "PyTorch 2.10 to 2.14: roundup_power2_divisions is"
        " [4:2,8:8,16:8,32:8,64:8,128:8,256:8,512:8,1024:8,2048:8,4096:8,8192:8,16384:8,32768:8]"
    ]


def test_conf617_tells_who_refuses_and_who_does_not() -> None:
    refused = [finding.message for finding in found("max_split_size_mb:20", "CONF617")]
    accepted = [finding.message for finding in found("max_split_size_mb:20", "CONF617", "2.9")]

    assert refused == ["PyTorch 2.1 to 2.9: stops, because max_split_size_mb is 20; it accepts more than 20, in MiB"]
    assert accepted == ["PyTorch 2.10 to 2.14: reads it without complaint"]
    assert found(EXPANDABLE, "CONF617") == []


def environment_codes(environ: dict[str, str], torch: str) -> list[str]:
    release = Release.parse(torch)
    environment = read_environment(environ, release)
    findings = check(environment.text, release, environment=environment)
    return [finding.code for finding in findings if finding.code in ("CONF618", "CONF619", "CONF620", "CONF621")]


@pytest.mark.parametrize(
    ("environ", "torch", "codes"),
    [
        ({"PYTORCH_ALLOC_CONF": EXPANDABLE}, "2.9", ["CONF618"]),
        ({"PYTORCH_ALLOC_CONF": EXPANDABLE}, "2.10", ["CONF621"]),
        ({"PYTORCH_ALLOC_CONF": "backend:native"}, "2.10", []),
        ({"PYTORCH_CUDA_ALLOC_CONF": EXPANDABLE}, "2.10", []),
        ({"PYTORCH_CUDA_ALLOC_CONF": "", "PYTORCH_ALLOC_CONF": EXPANDABLE}, "2.10", ["CONF618"]),
        ({"PYTORCH_HIP_ALLOC_CONF": EXPANDABLE}, "2.9", ["CONF618"]),
        ({"PYTORCH_HIP_ALLOC_CONF": EXPANDABLE}, "2.10", ["CONF619"]),
        ({"PYTORCH_NO_CUDA_MEMORY_CACHING": "0"}, "2.6", ["CONF620"]),
        ({"PYTORCH_NO_CUDA_MEMORY_CACHING": "0"}, "2.7", []),
    ],
)
def test_conf618_to_621_tell_which_variable_counts(environ: dict[str, str], torch: str, codes: list[str]) -> None:
    assert environment_codes(environ, torch) == codes


# Dangers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "use", "severity", "torch"),
    [
        ("CONF631", "custom-all-reduce", "error", "2.14"),
        ("CONF631", "ipc", "error", "2.4"),
        ("CONF632", "registration", "warning", "2.14"),
        ("CONF633", "sleep-mode", "error", "2.8"),
    ],
)
def test_conf631_to_633_become_serious_when_the_use_is_known(
    code: str, use: str, severity: Severity, torch: str
) -> None:
    assert only(EXPANDABLE, code, torch).severity == "info"
    assert only(EXPANDABLE, code, torch, uses=[use]).severity is severity
    assert found("max_split_size_mb:64", code, torch, uses=[use]) == []


def test_conf633_ends_with_2_10() -> None:
    assert "raises an error" in only(EXPANDABLE, "CONF633", "2.9").message
    assert found(EXPANDABLE, "CONF633", "2.10", uses=["sleep-mode"]) == []


def test_a_use_that_is_not_broken_is_spoken_of() -> None:
    goes = ("From PyTorch 2.10 on, vLLM's sleep mode goes with expandable_segments:True.",)
    given = [
        answer(EXPANDABLE, Release.parse(torch), uses=["sleep-mode"]).harmless for torch in ("2.9", "2.10", "2.14")
    ]

    assert given == [(), goes, goes]
    assert answer(EXPANDABLE, uses=["ipc"]).harmless == ()
    assert answer(EXPANDABLE).harmless == ()
    assert answer("max_split_size_mb:64", uses=["ipc"]).harmless == (
        "These settings do not concern memory shared with other processes (cudaIpcGetMemHandle).",
    )
    assert answer("oops:64", uses=["ipc"]).harmless == ()


def test_conf634_is_for_releases_that_advise_regardless() -> None:
    given = [torch for torch in ("2.1", "2.2", "2.13", "2.14") if found(EXPANDABLE, "CONF634", torch)]

    assert given == ["2.2", "2.13"]


@pytest.mark.parametrize(
    ("text", "torch", "is_found"),
    [
        ("pinned_max_round_threshold_mb:128,pinned_max_cached_size_mb:1024", "2.13", True),
        ("pinned_max_round_threshold_mb:128", "2.13", True),
        ("pinned_max_round_threshold_mb:128,pinned_max_cached_size_mb:128", "2.13", False),
        ("pinned_max_cached_size_mb:128", "2.13", False),
        ("pinned_max_round_threshold_mb:128", "2.14", False),
    ],
)
def test_conf635_is_for_pinned_blocks_of_2_13(text: str, torch: str, is_found: bool) -> None:
    assert bool(found(text, "CONF635", torch)) is is_found


# Switching --------------------------------------------------------------------------------------------------------


def before(text: str) -> Settings:
    return parse(text, at_load=True).settings


def test_conf641_lists_what_a_call_drops() -> None:
    previous = before(f"{EXPANDABLE},max_split_size_mb:128,garbage_collection_threshold:0.8")
    findings = found("expandable_segments:False", "CONF641", previous=previous)

    assert [finding.message for finding in findings] == [
        "this call sets max_split_size_mb back from 128 to unlimited, although it does not mention it",
        "this call sets garbage_collection_threshold back from 0.8 to 0.0, although it does not mention it",
    ]
    kept = "expandable_segments:False,max_split_size_mb:128,garbage_collection_threshold:0.8"
    assert found(kept, "CONF641", previous=previous) == []


def test_conf641_warns_ahead_where_a_library_switches() -> None:
    text = f"{EXPANDABLE},garbage_collection_threshold:0.8"

    assert only(text, "CONF641").message.endswith("drops garbage_collection_threshold")
    assert only(text, "CONF641", uses=["sleep-mode"]).severity == "warning"
    assert found(EXPANDABLE, "CONF641") == []


@pytest.mark.parametrize(
    ("previous", "text", "is_found"),
    [
        ("max_split_size_mb:40", f"{EXPANDABLE},max_split_size_mb:40", True),
        (f"{EXPANDABLE},max_split_size_mb:40", "expandable_segments:False,max_split_size_mb:40", True),
        ("max_split_size_mb:80", "max_split_size_mb:40", True),
        ("", "max_split_size_mb:40", True),
        ("max_split_size_mb:40", "max_split_size_mb:40", False),
        ("max_split_size_mb:40", "max_split_size_mb:80", False),
        ("max_split_size_mb:40", EXPANDABLE, False),
    ],
)
def test_conf642_is_for_switches_that_can_free_live_memory(previous: str, text: str, is_found: bool) -> None:
    assert bool(found(text, "CONF642", previous=before(previous))) is is_found


def test_conf643_is_for_a_fraction_that_comes_too_late() -> None:
    text = "per_process_memory_fraction:0.9"

    assert found(text, "CONF643", previous=Settings())
    assert found(text, "CONF643") == []


# The whole --------------------------------------------------------------------------------------------------------


def test_worst_comes_first() -> None:
    severities = [
        SEVERITIES.index(finding.severity) for finding in check(f"{EXPANDABLE},max_split_size_mb:5", Release(2, 9))
    ]

    assert severities == sorted(severities)
    assert severities[0] == 0
    assert severities[-1] == 2


def test_text_longer_than_any_variable_is_refused() -> None:
    with pytest.raises(ConfError, match="the settings have 131,073 characters"):
        check("a" * 131_073)


def test_unknown_use_is_refused() -> None:
    with pytest.raises(ConfError, match="'vllm' is not a use that is known here"):
        check("", NEWEST, uses=["vllm"])
