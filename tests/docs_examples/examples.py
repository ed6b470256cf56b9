#!/usr/bin/env python3
"""Turns the examples of the documentation into tests.

    examples.py extract ROOT OUT      writes OUT/NAME.cc for each ```cpp run block and prints the names
    examples.py run PROGRAM EXPECTED  runs a program in an empty folder; compares its output if EXPECTED exists
    examples.py commands ROOT BUILD   checks or runs every ```sh block
    examples.py server ROOT BUILD     runs the blocks that need a server
    examples.py mysql ROOT BUILD      runs the blocks that need a database

In README.md, CONTRIBUTING.md and docs/:
- A C++ block is marked ```cpp run. It holds a whole program, or statements for the body of main; its includes come
  first. A ```text output block right after it is what it must print. An unmarked ```cpp block is an error.
- A ```sh block holds commands that exist: make targets, CMake presets, programs of tools/ and of the build.
- A ```sh run block is run by bash in an empty folder, with the build folder on the PATH. Those of README.md have the
  program as build/postino instead, as after `make run`. A ```toml NAME or ```json NAME block before
  it is a file in that folder. A ```text output block right after it is what it must print.
- A ```python run, ```javascript run, ```java run or ```go run block is a program, which is run if its language is there.
- ```sh server and ```python server blocks are run in the same way, those of all documents against one server, as readers
  do who have started one with `make run`: in the order of the documents, and in the opposite order against another
  server. It has other ports than the 8000 and 8080 that they name.
- ```sh mysql blocks are run in the same way, all of a document with one fresh MariaDB, whose socket is another than the
  one they name; the mariadb client finds it by itself. For a ```sh mysql server block Postino serves with postino.toml.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import namedtuple
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "outbox_e2e"))  # how a database is started

Block = namedtuple("Block", "path line info text")
# How programs are run, and what their files are called.
LANGUAGES = {
    "python run": (["/usr/bin/python3"], "example.py"),
    "javascript run": (["node"], "example.js"),
    "java run": (["java"], "Example.java"),
    "go run": (["go", "run"], "example.go"),
}
MYSQL_SOCKET = "/run/mysqld/mysqld.sock"  # where Debian's packages have it


def documents(root):
    return [path for path in [root / "README.md", root / "CONTRIBUTING.md"] if path.exists()] + sorted(
        (root / "docs").rglob("*.md")
    )


def blocks(path):
    """The fenced blocks of a Markdown file, in order."""
    found, start, info, lines = [], 0, None, []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if info is None and (match := re.match(r"```(.*)", line)):
            start, info, lines = number, match[1].strip(), []
        elif info is not None and line.startswith("```"):
            found.append(Block(path, start, info, "\n".join(lines) + "\n"))
            info = None
        elif info is not None:
            lines.append(line)
    return found


def program(text):
    """A whole program as it is; statements get the main around them."""
    if re.search(r"^int main\(", text, re.MULTILINE):
        return text
    lines = text.splitlines(keepends=True)
    head = [line for line in lines if line.startswith(("#include", "using namespace", "namespace "))]
    body = [line for line in lines if line not in head]
    return "".join(head) + "\nint main() {\n" + "".join(body) + "}\n"


def write_if_changed(path, text):
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def extract(root, out):
    out.mkdir(parents=True, exist_ok=True)
    names = []
    for path in documents(root):
        found = blocks(path)
        for index, block in enumerate(found):
            if block.info != "cpp run":
                continue
            stem = re.sub(r"\W+", "_", str(path.relative_to(root).with_suffix(""))).lower()
            name = f"{stem}_{sum(block.info == 'cpp run' for block in found[: index + 1])}"
            names.append(name)
            origin = f'#line {block.line + 1} "{path}"\n'
            source = program(block.text)
            write_if_changed(out / f"{name}.cc", origin + source if source == block.text else f"// {path}\n{source}")
            expected = out / f"{name}.expected"
            expected.unlink(missing_ok=True)
            if index + 1 < len(found) and found[index + 1].info == "text output":
                expected.write_text(found[index + 1].text, encoding="utf-8")
    print("\n".join(names))
    return 0


def run(executable, expected):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([executable], cwd=folder, stdout=subprocess.PIPE, text=True, timeout=120)
    print(done.stdout, end="")
    if done.returncode != 0:
        print(f"exit status {done.returncode}")
        return 1
    if expected.exists() and done.stdout != expected.read_text(encoding="utf-8"):
        print(f"--- but the documentation says:\n{expected.read_text(encoding='utf-8')}", end="")
        return 1
    return 0


def command_fault(root, line):
    """Why a command line of a ```sh block cannot work, or None."""
    words = [word for word in line.split() if not re.match(r"[A-Z_]+=", word)]
    presets = json.loads((root / "CMakePresets.json").read_text())["configurePresets"]
    folders = {preset["binaryDir"].removeprefix("${sourceDir}/") for preset in presets if "binaryDir" in preset}
    if words[0] == "make":
        targets = re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(), re.MULTILINE)
        return next((f"no make target '{word}'" for word in words[1:] if word not in targets), None)
    if words[0] == "cmake":
        preset = words[words.index("--preset") + 1] if "--preset" in words else None
        return None if preset in {known["name"] for known in presets} else f"no preset '{preset}'"
    if words[0] == "ctest":
        folder = words[words.index("--test-dir") + 1] if "--test-dir" in words else None
        return None if folder in folders else f"no build folder '{folder}'"
    if words[0].startswith("tools/"):
        return None if (root / words[0]).exists() else f"no tool '{words[0]}'"
    folder, _, name = words[0].rpartition("/")
    if folder in folders:
        module = root / "src" / name.removesuffix("_test")
        known = name == "postino" or (name.endswith("_test") and module.is_dir()) or name.startswith(("fuzz_", "bench_"))
        return None if known else f"no program '{name}'"
    return f"'{words[0]}' is no command of this project; mark the block `sh run` to have it run"


def write_files(path, folder):
    for block in blocks(path):
        if match := re.fullmatch(r"(?:toml|json) (\S+)", block.info):
            Path(folder, match[1]).write_text(block.text, encoding="utf-8")


def expected_output(path, block):
    found = blocks(path)
    following = found[found.index(block) + 1 :][:1]
    return following[0].text if following and following[0].info == "text output" else None


def fault_of(block, expected, folder, build, renamed=None, environment=None):
    """Runs a block; why it is not what the document says, or None. `renamed` has what is called differently here."""
    text = block.text
    for named, actual in (renamed or {}).items():
        text = text.replace(named, actual)
    as_built = block.path.name == "README.md"
    if as_built and not Path(folder, "build").exists():
        Path(folder, "build").symlink_to(build)
    command = ["bash", "-c", f'set -eu; PATH="{"" if as_built else f"{build}:"}$PATH"\n{text}']
    if block.info.startswith("python"):
        command = ["/usr/bin/python3", "-c", text]
    environment = {**os.environ, **(environment or {})}
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, timeout=120, env=environment)
    print(done.stdout, end="")
    printed = done.stdout
    for named, actual in (renamed or {}).items():
        printed = printed.replace(actual, named)
    if done.returncode != 0:
        return f"exit status {done.returncode}"
    if expected is not None and printed != expected:
        return f"prints {printed!r} instead of {expected!r}"
    return None


def fault_of_program(block, expected, folder):
    """The same for a program in another language."""
    command, name = LANGUAGES[block.info]
    if shutil.which(command[0]) is None:
        print(f"{block.path.name}:{block.line}: not run, because there is no {command[0]}")
        return None
    Path(folder, name).write_text(block.text, encoding="utf-8")
    done = subprocess.run([*command, name], cwd=folder, stdout=subprocess.PIPE, text=True, timeout=120)
    if done.returncode != 0:
        return f"exit status {done.returncode}"
    if expected is not None and done.stdout != expected:
        return f"prints {done.stdout!r} instead of {expected!r}"
    return None


@contextlib.contextmanager
def running_server(folder, build, *flags):
    """What the documents call its ports, and what they are."""
    command = [str(build / "postino"), "serve", "--data", "data", *flags]
    command += ["--dynamodb", "127.0.0.1:0", "--http", "127.0.0.1:0"]
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        ports = {}
        for named, name in ((8080, "REST API"), (8000, "DynamoDB API")):
            while not (line := server.stdout.readline()).startswith(f"{name}:"):
                if not line:
                    raise RuntimeError("the server did not start")
            ports[f":{named}"] = ":" + re.search(r":(\d+)", line.split("//", 1)[1])[1]
        while "--sample" in flags and not line.startswith("A sample ticket"):  # what readers have seen by then
            if not (line := server.stdout.readline()):
                raise RuntimeError("the server has shown no sample")
        yield ports
    finally:
        server.terminate()
        server.communicate(timeout=60)
    if server.returncode != 0:
        raise RuntimeError(f"the server ended with {server.returncode}")


def server_examples(path):
    return [block for block in blocks(path) if block.info in ("sh server", "python server")]


def run_with_server(paths, build):
    """Runs the blocks of the documents, one after the other, against one server."""
    faults = []
    with tempfile.TemporaryDirectory() as folder, running_server(folder, build, "--sample") as ports:
        for path in paths:
            for block in server_examples(path):
                if fault := fault_of(block, expected_output(path, block), folder, build, ports):
                    faults.append(f"{path.name}:{block.line}: {fault}")
    return faults


def server(root, build):
    paths = [path for path in documents(root) if server_examples(path)]
    faults = run_with_server(paths, build) + run_with_server(paths[::-1], build)
    print("\n".join(faults))
    return 1 if faults or not paths else 0


def run_with_mysql(path, build):
    from mariadb_server import MariadbServer

    faults, database = [], MariadbServer()
    renamed = {MYSQL_SOCKET: str(database.socket)}
    try:
        with tempfile.TemporaryDirectory() as folder:
            # The last file that clients read: it prevails over the machine's own.
            Path(folder, ".my.cnf").write_text(f"[client]\nsocket = {database.socket}\n", encoding="utf-8")
            for block in blocks(path):
                if match := re.fullmatch(r"(?:toml|json) (\S+)", block.info):
                    text = block.text.replace(MYSQL_SOCKET, str(database.socket))
                    Path(folder, match[1]).write_text(text, encoding="utf-8")
                if block.info not in ("sh mysql", "sh mysql server"):
                    continue
                with contextlib.ExitStack() as stack:
                    names = dict(renamed)
                    if block.info.endswith("server"):
                        names.update(stack.enter_context(running_server(folder, build, "--config", "postino.toml")))
                    if fault := fault_of(block, expected_output(path, block), folder, build, names, {"HOME": folder}):
                        faults.append(f"{path.name}:{block.line}: {fault}")
    finally:
        database.remove()
    return faults


def mysql(root, build):
    found = [path for path in documents(root) if any(block.info.startswith("sh mysql") for block in blocks(path))]
    faults = [fault for path in found for fault in run_with_mysql(path, build)]
    print("\n".join(faults))
    return 1 if faults or not found else 0


def commands(root, build):
    faults = []
    for path in documents(root):
        for block in blocks(path):
            where = f"{path.relative_to(root)}:{block.line}"
            if block.info == "cpp":
                faults.append(f"{where}: a C++ example that is not run; mark it `cpp run`")
            elif block.info == "sh run":
                with tempfile.TemporaryDirectory() as folder:
                    write_files(path, folder)
                    if fault := fault_of(block, expected_output(path, block), folder, build):
                        faults.append(f"{where}: {fault}")
            elif block.info in LANGUAGES:
                with tempfile.TemporaryDirectory() as folder:
                    if fault := fault_of_program(block, expected_output(path, block), folder):
                        faults.append(f"{where}: {fault}")
            elif block.info == "sh":
                for number, line in enumerate(block.text.splitlines(), block.line + 1):
                    line = line.partition("#")[0].strip()
                    if line and (fault := command_fault(root, line)):
                        faults.append(f"{path.relative_to(root)}:{number}: {fault}")
    print("\n".join(faults))
    return 1 if faults else 0


def main():
    actions = {"extract": extract, "run": run, "commands": commands, "server": server, "mysql": mysql}
    if len(sys.argv) != 4 or sys.argv[1] not in actions:
        print(__doc__, file=sys.stderr)
        return 2
    return actions[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))


if __name__ == "__main__":
    sys.exit(main())
