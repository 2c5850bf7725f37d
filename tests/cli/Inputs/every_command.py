"""Every command explains itself in lines of at most 120 columns and is known to the completions of every shell."""
import json
import re
import subprocess
import sys


def text(*arguments):
    return subprocess.run([sys.argv[1], *arguments], capture_output=True, text=True, check=True).stdout


commands = json.loads(text("__tables", "--json"))["commands"]
assert len(commands) > 5, commands
scripts = {shell: text("completion", shell) for shell in ("bash", "zsh", "fish")}
for command in commands:
    page = text(command, "--help")
    for line in page.splitlines():
        assert len(line) <= 120, f"{command}: too wide: {line}"
    assert f"usage: tilec {command}" in page, page
    assert "--json" in page and "--color" in page, page
    for option in re.findall(r"^  (?:-\w, )?(--[a-z-]+)", page, re.M):
        for shell, script in scripts.items():
            word = option[2:] if shell == "fish" else option
            assert option in ("--help",) or word in script, f"{shell} does not complete {command} {option}"
# What bash completes is what bash itself says of the script.
done = subprocess.run(["bash", "-c", scripts["bash"] + """
COMP_WORDS=(tilec bui); COMP_CWORD=1; _tilec; echo "${COMPREPLY[@]}"
COMP_WORDS=(tilec build --save); COMP_CWORD=2; _tilec; echo "${COMPREPLY[@]}"
"""], capture_output=True, text=True, check=True)
assert done.stdout.split() == ["build", "--save-temps"], done.stdout + done.stderr
