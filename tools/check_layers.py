#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the #include lines and the CMake USES lists with the layers of docs/architecture.md.

Prints one line for every violation and exits 1 if there is any. Takes the folder of the checkout as its argument.
"""

import re
import sys
from pathlib import Path

# A room may use the rooms of earlier groups; rooms of one group do not know each other.
LAYERS = [
    ["core"],
    ["data"],
    ["io", "simulate", "check", "allocate", "loss"],
    ["evaluate", "learn", "trees"],
    ["nn", "forest", "boost", "policy"],
    ["model"],
    ["train"],
    ["compare", "launch"],
    ["report"],
    ["verbs"],
    ["serve"],
    ["cli", "python"],
]

# Libraries that are known to a few rooms only, by the beginning of the included path.
CONFINED = {
    "arrow/": {"io"},
    "parquet/": {"io"},
    "toml++/": {"io"},
    "CLI/": {"cli"},
    "boost/asio": {"serve"},
    "boost/beast": {"serve"},
}

LICENSED_SUFFIXES = {".h", ".cpp", ".py", ".cmake", ".sh", ".ts"}
LICENSED_NAMES = {"CMakeLists.txt", "Makefile"}
LICENSED_FOLDERS = ["dfcl", "cli", "python", "tests", "bench", "tools", "cmake", "web"]
LICENCE = "SPDX-License-Identifier: Apache-2.0"

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
ROOM_CALL = re.compile(r"^\s*dfcl_room\(\s*(\w+)([^)]*)\)", re.MULTILINE)
KEYWORDS = {"USES", "PRIVATE_LIBRARIES", "PUBLIC_LIBRARIES", "FLAGS"}

GROUP_OF = {room: group for group, rooms in enumerate(LAYERS) for room in rooms}


def may_use(room, other):
    return room == other or GROUP_OF[other] < GROUP_OF[room]


def declared_uses(root):
    """Room -> the rooms of its USES list in CMakeLists.txt. cli and python link everything."""
    uses = {outermost: {room for rooms in LAYERS[:-1] for room in rooms} for outermost in LAYERS[-1]}
    for name, arguments in ROOM_CALL.findall((root / "CMakeLists.txt").read_text()):
        listed, keyword = set(), None
        for word in arguments.split():
            if word in KEYWORDS:
                keyword = word
            elif keyword == "USES":
                listed.add(word)
        uses[name] = listed
    return uses


def check_uses(uses):
    for room, others in uses.items():
        if room not in GROUP_OF:
            yield f"CMakeLists.txt: room '{room}' is not in the layers of tools/check_layers.py"
            continue
        for other in sorted(others):
            if other not in GROUP_OF:
                yield f"CMakeLists.txt: room '{room}' uses '{other}', which is not in the layers"
            elif other != room and not may_use(room, other):
                yield f"CMakeLists.txt: room '{room}' may not use '{other}'"


def room_of_include(path):
    """The room that an included path belongs to, or None for the outside world."""
    parts = path.split("/")
    if parts[0] == "dfcl" and len(parts) > 2:
        return parts[1]
    return "cli" if parts[0] == "cli" else None


def check_include(room, path, uses):
    for prefix, rooms in CONFINED.items():
        if path.startswith(prefix) and room not in rooms:
            return f"only {', '.join(sorted(rooms))} may include <{path}>"
    other = room_of_include(path)
    if other is None or other == room:
        return None
    if other not in GROUP_OF:
        return f"'{other}' is not a room of the layers"
    if not may_use(room, other):
        return f"room '{room}' may not use '{other}' ({path})"
    if room in uses and other not in uses[room]:
        return f"'{other}' is not in the USES list of room '{room}' in CMakeLists.txt ({path})"
    return None


def check_room(root, folder, room, uses):
    for file in sorted(folder.rglob("*")):
        if file.suffix not in {".h", ".cpp"}:
            continue
        for number, line in enumerate(file.read_text().splitlines(), start=1):
            include = INCLUDE.match(line)
            problem = check_include(room, include.group(2), uses) if include else None
            if problem:
                yield f"{file.relative_to(root)}:{number}: {problem}"


def check_licences(root):
    for folder in LICENSED_FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            wanted = file.suffix in LICENSED_SUFFIXES or file.name in LICENSED_NAMES
            if wanted and file.is_file() and "node_modules" not in file.parts:
                if LICENCE not in "\n".join(file.read_text().splitlines()[:3]):
                    yield f"{file.relative_to(root)}:1: no line '{LICENCE}' on top"


def violations(root):
    uses = declared_uses(root)
    yield from check_uses(uses)
    for folder in sorted((root / "dfcl").iterdir()):
        if folder.is_dir() and any(folder.iterdir()):
            if folder.name in GROUP_OF:
                yield from check_room(root, folder, folder.name, uses)
            else:
                yield f"dfcl/{folder.name}: not a room of the layers"
    for folder in ("cli", "python"):
        yield from check_room(root, root / folder, folder, uses)
    yield from check_licences(root)


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    found = list(violations(root))
    print("\n".join(found) if found else "layers, confined libraries and licence lines are in order")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
