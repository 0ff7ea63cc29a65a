"""Write the default answers of one stand-in library, at build time.

    python generate.py LIBRARY --sources FILE... --out FILE.c --map FILE.map

Every name of names/LIBRARY.txt that no source file defines gets a function that notes that it was called, sets what
outputs.txt says that it must set, and says that all went well or that it is not supported. The map gives symbols the
version by which PyTorch's libraries ask for them.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

HERE = Path(__file__).parent
# What a default answer returns, where it is not 0: "not supported" in the library's own numbers.
REFUSALS = {"libcudart": 801, "libcuda": 801, "libnvidia-ml": 3, "libcupti": 27}
UNVERSIONED = {"libcuda", "libnccl", "libcufile", "libcusparseLt", "libnvidia-ml"}
VERSIONS = {"libnvshmem_host": "NVSHMEM"}  # where the version is not named like the library
DEFINED = re.compile(r"^GAPLESS_API\s+(?:const\s+)?[\w:]+[\s*]+(\w+)\(", re.MULTILINE)
PARAMETERS = {"f": "float", "d": "double"}
ASSIGNMENTS = {
    "H": "*(void**)p{0} = gapless_default_handle();",
    "N": "*(int*)p{0} = gapless_default_number();",
    "Z": "*(int*)p{0} = 0;",
    "S": "*(size_t*)p{0} = 0;",
    "L": "*(int64_t*)p{0} = 0;",
}
HEAD = """// Made by virtual_gpu/generate.py.
#include <stddef.h>
#include <stdint.h>
extern void gapless_default_answer(const char*, const char*);
extern void* gapless_default_handle(void);
extern int gapless_default_number(void);
extern int gapless_default_may_write(const void*);
#define ANSWER(NAME) static char noted; if (!noted) { noted = 1; gapless_default_answer(LIBRARY, NAME); }
#define API __attribute__((visibility("default")))
"""


def function(name: str, letters: str, refusal: int) -> str:
    """One default answer in C."""
    parameters = ", ".join(f"{PARAMETERS.get(letter, 'void*')} p{i}" for i, letter in enumerate(letters)) or "void"
    body = "".join(
        f" if (gapless_default_may_write(p{i})) {{ {ASSIGNMENTS[letter].format(i)} }}"
        for i, letter in enumerate(letters)
        if letter in ASSIGNMENTS
    )
    return f'API long {name}({parameters}) {{ ANSWER("{name}"){body} return {refusal}; }}\n'


def main() -> None:
    """Write both files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="its SONAME")
    parser.add_argument("--sources", nargs="*", type=Path, default=[])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--map", type=Path, required=True)
    options = parser.parse_args()
    stem = options.library.partition(".so")[0]
    table = HERE / "names" / f"{options.library}.txt"
    names = table.read_text().split() if table.exists() else []
    defined = {name for source in options.sources for name in DEFINED.findall(source.read_text())}
    outputs = dict(
        line.split() for line in (HERE / "outputs.txt").read_text().splitlines() if line[:1] not in ("", "#")
    )
    text = HEAD.replace("LIBRARY", f'"{options.library}"')
    for name in sorted(set(names) - defined):
        text += function(name, outputs.get(name, ""), REFUSALS.get(stem, 0))
    options.out.write_text(text)
    version = "" if stem in UNVERSIONED else VERSIONS.get(stem, options.library) + " "
    options.map.write_text(f"{version}{{ global: *; }};\n" if version else "{ global: *; };\n")


if __name__ == "__main__":
    main()
