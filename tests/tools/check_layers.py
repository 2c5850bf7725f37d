#!/usr/bin/env python3
"""Holds the code to the layer table of docs/architecture.md: includes, cycles, architecture names, libraries."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def table():
    rows = {}
    inside = False
    for line in (ROOT / "docs/architecture.md").read_text().splitlines():
        if line.startswith("## "):
            inside = line == "## Layers"
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if inside and len(cells) == 3 and cells[0].startswith("`"):
            rows[cells[0].strip("`")] = set(re.findall(r"`([^`]+)`", cells[2]))
    return rows


def cycle(rows):
    seen, path = set(), []

    def visit(name):
        if name in path:
            return path[path.index(name):] + [name]
        if name in seen:
            return None
        path.append(name)
        for other in sorted(rows.get(name, ())):
            found = visit(other)
            if found:
                return found
        path.pop()
        seen.add(name)
        return None

    for name in rows:
        found = visit(name)
        if found:
            return found
    return None


# A library and the files that may include its headers.
LIBRARIES = {
    r"<yaml-cpp/": r"tuner/recipe[a-z_]*\.cpp",
    r"<sqlite3\.h>": r"tuner/cache[a-z_]*\.(cpp|h)",
    r"<CLI/": r"cli/parse\.cpp",
    r"<spdlog/": r"compiler/base/log\.cpp",
    r"mlir/Conversion/Passes\.h": r"$^",  # 18 s of compile time
}
ARCH = re.compile(r"\bsm_\d\d+")
COMMENT = re.compile(r"//.*|/\*.*?\*/", re.S)


def main():
    rows = table()
    faults = []
    if not rows:
        faults.append("docs/architecture.md: no layer table found")
    for name, sees in rows.items():
        for other in sees - set(rows):
            faults.append(f"docs/architecture.md: row {name} names '{other}', which has no row")
    loop = cycle(rows)
    if loop:
        faults.append("docs/architecture.md: the layers form a cycle: " + " -> ".join(loop))
    for top in ("compiler", "runtime", "tuner", "cli"):
        for file in sorted((ROOT / top).rglob("*")):
            if file.suffix not in (".h", ".cpp", ".c", ".td", ".def"):
                continue
            rel = file.relative_to(ROOT).as_posix()
            layer = next((r for r in sorted(rows, key=len, reverse=True) if rel.startswith(r + "/")), None)
            if layer is None:
                faults.append(f"{rel}: in no layer of docs/architecture.md")
                continue
            text = file.read_text()
            for number, line in enumerate(text.splitlines(), 1):
                m = re.match(r'\s*#\s*include\s+"((?:compiler|runtime|tuner|cli)/[^"]+)"', line)
                if m:
                    target = m.group(1)
                    other = next((r for r in sorted(rows, key=len, reverse=True) if target.startswith(r + "/")), None)
                    if other and other != layer and other not in rows[layer]:
                        faults.append(f"{rel}:{number}: {layer} must not see {other} ({target})")
                for pattern, allowed in LIBRARIES.items():
                    if line.lstrip().startswith("#") and re.search(pattern, line) and not re.fullmatch(allowed, rel):
                        faults.append(f"{rel}:{number}: this header belongs to {allowed}")
                if layer != "compiler/target" and file.suffix in (".cpp", ".h") and ARCH.search(COMMENT.sub("", line)):
                    # Help texts of the tool may show an architecture's name as an example.
                    if layer != "cli":
                        faults.append(f"{rel}:{number}: an architecture is named outside compiler/target")
    for f in faults:
        print(f)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
