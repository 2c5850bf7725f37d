#!/usr/bin/env python3
"""Generated pages and parts of pages: docs/cli.md, docs/diagnostics.md and the marked blocks of docs/*.md.

Without --update it fails when a page differs from what the tool says. A block stands between `<!-- NAME -->` and
`<!-- end -->`.
"""
import argparse
import difflib
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Tool:
    def __init__(self, path):
        self.path = path

    def text(self, *arguments):
        return subprocess.run([self.path, *arguments], capture_output=True, text=True, check=True,
                              env={"NO_COLOR": "1", "PATH": "/usr/bin:/bin"}).stdout

    def json(self, *arguments):
        return json.loads(self.text(*arguments, "--json"))


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def table(titles, rows):
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    lines += ["| " + " | ".join(cell(c) for c in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def builtins(tables):
    rows = []
    for b in tables["builtins"]:
        rows.append([f"`{b['name']}`", f"`{b['signature']}`", b["doc"]])
    return table(["name", "use", "meaning"], rows)


def cli_page(tool, tables):
    text = "# Commands\n\nGenerated from the tool's own tables (`make docs`).\n\n```\n" + tool.text("--help") + "```\n"
    for name in tables["commands"]:
        text += f"\n## {name}\n\n```\n{tool.text(name, '--help')}```\n"
    text += "\n## Environment\n\n"
    text += table(["variable", "meaning"], [[f"`{e['name']}`", e["doc"]] for e in tables["environment"]])
    text += ("\n## Exit codes\n\n| code | meaning |\n|---|---|\n| 0 | done |\n| 1 | errors found, or results differ |\n"
             "| 2 | wrong use, configuration, input or output |\n| 3 | no usable GPU or driver |\n"
             "| 101 | a defect of tilec or of a tool below it |\n| 130 | interrupted |\n")
    return text


def diagnostics_page(tool):
    text = "# Diagnostics\n\nGenerated from the table of codes (`make docs`); `tilec explain CODE` prints one.\n"
    for d in tool.json("explain")["codes"]:
        text += f"\n## {d['code']}: {d['title']}\n\n{d['explanation'].strip()}\n"
    return text


def blocks(tables):
    return {
        "builtins": builtins(tables),
        "hints": table(["hint", "where", "values", "meaning"],
                       [[f"`{h['name']}`", h["where"], h["values"], h["doc"]] for h in tables["hints"]]),
        "architectures": table(["name", "compiled as", "shared memory of a block", "largest cluster"],
                               [[f"`{a['name']}`", f"`{a['compiledAs']}`", a["sharedPerBlock"], a["maxCluster"]]
                                for a in tables["architectures"]]),
    }


def fill(text, filled, name):
    for key, block in filled.items():
        text = re.sub(rf"(<!-- {key} -->\n).*?(<!-- end -->)", lambda m: m.group(1) + block + m.group(2), text, flags=re.S)
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tilec", default=str(ROOT / "build/tilec"))
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    tool = Tool(options.tilec)
    tables = tool.json("__tables")
    pages = {ROOT / "docs/cli.md": cli_page(tool, tables), ROOT / "docs/diagnostics.md": diagnostics_page(tool)}
    for page in sorted((ROOT / "docs").glob("*.md")):
        if page not in pages:
            pages[page] = fill(page.read_text(), blocks(tables), page.name)
    failed = False
    for page, text in pages.items():
        old = page.read_text() if page.exists() else ""
        if old == text:
            continue
        if options.update:
            page.write_text(text)
            continue
        failed = True
        name = page.relative_to(ROOT)
        print("".join(difflib.unified_diff(old.splitlines(True), text.splitlines(True), f"{name}", f"{name} (generated)")))
    if failed:
        print("run `make docs` and review the difference")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
