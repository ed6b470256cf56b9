#!/usr/bin/env python3
"""Tests of examples.py on small documents."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import examples  # noqa: E402

# Announces itself as Postino does, and ends when it is asked to.
SERVER = """#!/usr/bin/env python3
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print("REST API: http://127.0.0.1:1", "DynamoDB API: http://127.0.0.1:2", "A sample ticket", sep="\\n", flush=True)
signal.pause()
"""


class ExamplesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("Makefile", "run: build\ntest:\n")
        self.write(
            "CMakePresets.json", '{"configurePresets": [{"name": "release", "binaryDir": "${sourceDir}/build"}]}'
        )
        self.write("tools/tidy", "")
        self.write("src/item/value.h", "")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def call(self, action, *arguments):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            status = action(*arguments)
        return status, out.getvalue().strip()

    def commands(self, readme):
        self.write("README.md", readme)
        return self.call(examples.commands, self.root, self.root / "build")

    def test_statements_become_a_program(self):
        self.write("README.md", "```cpp run\n#include <cstdio>\nputs(\"hello\");\n```\n\n```text output\nhello\n```\n")
        self.assertEqual(self.call(examples.extract, self.root, self.root / "out"), (0, "readme_1"))
        source = (self.root / "out/readme_1.cc").read_text()
        self.assertIn('#include <cstdio>\n\nint main() {\nputs("hello");\n}\n', source)
        self.assertEqual((self.root / "out/readme_1.expected").read_text(), "hello\n")

    def test_a_whole_program_stays_as_it_is(self):
        self.write("docs/first.md", "```cpp run\nint main() {}\n```\n")
        self.assertEqual(self.call(examples.extract, self.root, self.root / "out"), (0, "docs_first_1"))
        self.assertTrue((self.root / "out/docs_first_1.cc").read_text().endswith("int main() {}\n"))

    def test_no_examples_is_fine(self):
        self.assertEqual(self.call(examples.extract, self.root, self.root / "out"), (0, ""))

    def test_documents_share_a_server(self):
        self.write("build/postino", SERVER)
        (self.root / "build/postino").chmod(0o755)
        self.write("README.md", "```sh server\nmkdir one\n```\n")
        self.write("docs/other.md", "```sh server\nmkdir two && echo http://127.0.0.1:8080\n```\n\n"
                   "```text output\nhttp://127.0.0.1:8080\n```\n")
        self.assertEqual(self.call(examples.server, self.root, self.root / "build")[0], 0)
        self.write("docs/other.md", "```sh server\nmkdir one\n```\n")
        status, output = self.call(examples.server, self.root, self.root / "build")
        self.assertEqual(status, 1)
        self.assertEqual(output.splitlines(), ["other.md:1: exit status 1", "README.md:1: exit status 1"])

    def test_output_is_compared(self):
        program = self.root / "program"
        self.write("program", "#!/bin/sh\necho hello\n")
        program.chmod(0o755)
        self.assertEqual(self.call(examples.run, program, self.root / "none")[0], 0)
        self.write("expected", "hello\n")
        self.assertEqual(self.call(examples.run, program, self.root / "expected")[0], 0)
        self.write("expected", "good bye\n")
        self.assertEqual(self.call(examples.run, program, self.root / "expected")[0], 1)

    def test_a_failing_program_fails(self):
        self.write("program", "#!/bin/sh\nexit 3\n")
        (self.root / "program").chmod(0o755)
        self.assertEqual(self.call(examples.run, self.root / "program", self.root / "none")[0], 1)

    def test_commands_that_exist_pass(self):
        lines = ["make run", "make test  # all", "cmake --preset release", "cmake --build --preset release",
                 "ctest --test-dir build -R item", "tools/tidy", "build/item_test --gtest_filter=A.*"]
        self.assertEqual(self.commands("```sh\n" + "\n".join(lines) + "\n```\n"), (0, ""))

    def test_commands_that_do_not_exist_fail(self):
        for line in ["make nothing", "cmake --preset nothing", "ctest --test-dir elsewhere", "tools/nothing",
                     "build/nothing_test", "curl example.org"]:
            self.assertEqual(self.commands(f"```sh\n{line}\n```\n")[0], 1, line)

    def test_run_blocks_are_run(self):
        self.assertEqual(self.commands("```sh run\ntrue\n```\n")[0], 0)
        self.assertEqual(self.commands("```sh run\nfalse\n```\n")[0], 1)

    def test_the_first_document_uses_what_was_built(self):
        self.write("build/program", "#!/bin/sh\n")
        (self.root / "build/program").chmod(0o755)
        self.assertEqual(self.commands("```sh run\nbuild/program && ! program 2>&-\n```\n")[0], 0)
        self.write("docs/other.md", "```sh run\nprogram && ! build/program 2>&-\n```\n")
        self.assertEqual(self.commands("")[0], 0)

    def test_programs_are_run(self):
        right, wrong = "```python run\nprint(1)\n```\n", "```python run\nprint(2)\n```\n"
        output = "\n```text output\n1\n```\n"
        self.assertEqual(self.commands(right + output)[0], 0)
        self.assertEqual(self.commands(wrong + output)[0], 1)
        self.assertEqual(self.commands("```python run\nraise SystemExit(3)\n```\n")[0], 1)

    def test_unmarked_cpp_fails(self):
        self.assertEqual(self.commands("```cpp\nint x;\n```\n")[0], 1)


if __name__ == "__main__":
    unittest.main()
