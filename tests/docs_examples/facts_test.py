#!/usr/bin/env python3
"""What the documentation says about the code, compared with the code: facts_test.py ROOT PROGRAM"""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import examples  # noqa: E402

ROOT = PROGRAM = None


def sources():
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "src").rglob("*.cc")))


class FactsTest(unittest.TestCase):
    def test_error_codes_are_those_of_the_code(self):
        header = (ROOT / "src/api/protocol/problem.h").read_text(encoding="utf-8")
        kinds = re.findall(r'ProblemType \w+\{(\d+), "(\w+)",\s*"([^"]+)"(,\s*true)?\}', header)
        known = {code: (status, title, bool(passes)) for status, code, title, passes in kinds}
        self.assertEqual(len(known), header.count("inline constexpr ProblemType "))
        document = (ROOT / "docs/errors.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| `(\w+)` \| (\d+) \| ([^|]+) \| (\w*) ?\|$", document, re.MULTILINE)
        told = {code: (status, title, again == "moment") for code, status, title, again in rows}
        self.assertEqual(told, known)
        self.assertEqual(len(rows), len(told))

    def test_codes_of_single_emails_are_those_of_the_code(self):
        schemas = (ROOT / "src/api/routes/schemas.cc").read_text(encoding="utf-8")
        known = re.findall(r'"(\w+)"', re.search(r'choices = (\{"DUPLICATED_ID"[^}]*\})', schemas)[1])
        document = (ROOT / "docs/errors.md").read_text(encoding="utf-8")
        section = document.partition("## E-mails in a request")[2].partition("\n## ")[0]
        self.assertEqual(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE), known)

    def test_metrics_exist(self):
        known = set(re.findall(r"\bpostino_[a-z0-9_]+\b", sources()))
        self.assertIn("postino_mysql_clock", known)
        for path in examples.documents(ROOT):
            for name in re.findall(r"\bpostino_[a-z0-9_]+\b", path.read_text(encoding="utf-8")):
                if name == "postino_engine" or name.startswith(("postino_migrations", "postino_module", "postino_tests")):
                    continue
                name = re.sub(r"_(bucket|sum|count)$", "", name)
                # Clocks share a class, which takes the first part of the name.
                self.assertIn(re.sub("^postino_mysql_clock_(jumps|suspicious)", r"postino_clock_\1", name), known, path.name)

    def test_metrics_are_documented(self):
        told = "\n".join(path.read_text(encoding="utf-8") for path in examples.documents(ROOT))
        for path in (ROOT / "src").rglob("*.cc"):
            if path.name.endswith("_test.cc"):
                continue
            # Some literals are the beginning of several names.
            for name in re.findall(r'"(postino_[a-z0-9_]+)"', path.read_text(encoding="utf-8")):
                self.assertRegex(told, rf"\b{name}", path.name)

    def test_metrics_of_the_database_are_documented(self):
        document = (ROOT / "docs/mysql.md").read_text(encoding="utf-8")
        for name in set(re.findall(r'"(postino_mysql_[a-z0-9_]+)"', sources())):
            self.assertIn(f"`{name}`" if name != "postino_mysql_clock" else f"`{name}_", document)

    def test_the_unit_is_one(self):
        """As far as systemd's own tool can tell, where there is one; and its paths are those of the page."""
        (unit,) = [block for block in examples.blocks(ROOT / "docs/production.md") if block.info.startswith("ini ")]
        self.assertIn("ExecStart=/usr/local/bin/postino serve --config /etc/postino/postino.toml\n", unit.text)
        if shutil.which("systemd-analyze") is None:
            return
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, unit.info.split()[1])
            text = unit.text.replace("/usr/local/bin/postino", str(PROGRAM)).replace("User=postino", "User=root")
            file.write_text(text.replace("Group=postino", "Group=root"), encoding="utf-8")
            done = subprocess.run(["systemd-analyze", "verify", file], capture_output=True, text=True, timeout=120)
        self.assertNotIn(file.name, done.stdout + done.stderr)


if __name__ == "__main__":
    ROOT, PROGRAM = Path(sys.argv[1]), Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
