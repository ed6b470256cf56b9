#!/usr/bin/env python3
"""Tests of tools/tidy: a good tree passes, and each rule finds the fault it is there for."""

import importlib.machinery
import importlib.util
import tempfile
import unittest
from pathlib import Path
from unittest import mock

TIDY = Path(__file__).resolve().parent.parent / "tools" / "tidy"
loader = importlib.machinery.SourceFileLoader("tidy", str(TIDY))
tidy = importlib.util.module_from_spec(importlib.util.spec_from_loader("tidy", loader))
loader.exec_module(tidy)

GOOD = {
    ".gitignore": "build/\n*.pyc\n",
    "README.md": "# Product\n\nSee [the plan](docs/plan.md#the-first-part) and <https://example.org>.\n",
    "CMakeLists.txt": "add_subdirectory(src/base)\nadd_subdirectory(src/item)\nadd_subdirectory(src/engine)\n"
    "add_subdirectory(tests)\n",
    "Makefile": "run:\n\ttools/start\n",
    "build/generated.h": "\tno rule reads this\n",
    "docs/plan.md": "# Plan\n\n## The first part\n\n```text\n[no](link.md)\n```\n\nBack to the [start](../README.md).\n",
    "src/base/CMakeLists.txt": "postino_module(base)\n",
    "src/base/clock.h": "#pragma once\n",
    "src/base/clock.cc": '#include "base/clock.h"\n',
    "src/item/CMakeLists.txt": "postino_module(item USES base LIBRARIES simdjson::simdjson)\n",
    "src/item/value.h": '#pragma once\n#include "base/clock.h"\n',
    "src/item/value.cc": '#include "item/value.h"\n#include <simdjson.h>\n',
    "src/item/value_test.cc": '#include "item/value.h"\n#include <gtest/gtest.h>\n',
    "src/engine/CMakeLists.txt": "postino_module(engine USES item base LIBRARIES RocksDB::rocksdb-shared)\n",
    "src/engine/items/writer.h": '#pragma once\n#include "engine/storage/log.h"\n',
    "src/engine/items/writer.cc": '#include "engine/items/writer.h"\n#include <rocksdb/db.h>\n',
    "src/engine/storage/log.h": '#pragma once\n#include "base/clock.h"\n',
    "src/engine/storage/log_test.cc": '#include "engine/items/writer.h"\n#include "engine/storage/log_testing.h"\n',
    "src/engine/storage/log_testing.h": '#pragma once\n',
    "src/engine/files.h": '#pragma once\n#include "engine/items/writer.h"\n',
    "tests/CMakeLists.txt": "add_subdirectory(crash)\nadd_test(NAME a COMMAND checks.py)\n",
    "tests/checks.py": "print('checked')\n",
    "tests/crash/CMakeLists.txt": "add_executable(crash_test crash_test.cc)\n",
    "tests/crash/crash_test.cc": '#include "engine/files.h"\n#include "engine/storage/log_testing.h"\n'
    "#include <rocksdb/db.h>\n#include <sys/socket.h>\n",
    "tools/start": "#!/bin/sh\n",
}


# The house of these tests, where it is not that of the product.
tidy.ROOMS = {"engine": [["storage"], ["tables", "items"]]}
tidy.ASSEMBLED = set()
# Beside outbox, a service that uses it; beside engine, another store.
tidy.FLOOR = {**tidy.FLOOR, "reminders": tidy.FLOOR["outbox"], "remote": tidy.FLOOR["engine"]}
tidy.STORES = {"engine", "remote"}


class TidyTest(unittest.TestCase):
    def faults(self, changes):
        """What tidy says about the good tree with these files changed, added or (None) removed."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**GOOD, **changes}.items():
                if text is not None:
                    path = Path(folder) / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text)
            return [f"{fault.path}:{fault.line}: {fault.rule}" for fault in tidy.faults(folder)]

    def expect(self, fault, changes):
        self.assertEqual(self.faults(changes), [fault])

    def test_good_tree_passes(self):
        self.assertEqual(self.faults({}), [])

    def test_include_upwards(self):
        self.assertIn(
            "src/base/clock.cc:2: base must not include item",
            self.faults({"src/base/clock.cc": '#include "base/clock.h"\n#include "item/value.h"\n'}),
        )

    def test_include_sideways(self):
        found = self.faults({"src/smtp/client.cc": '#include "broker/queue.h"\n'})
        self.assertIn("src/smtp/client.cc:1: smtp must not include broker", found)

    def test_services_do_not_see_the_engine(self):
        found = self.faults({"src/outbox/ledger.cc": '#include "engine/files.h"\n'})
        self.assertIn("src/outbox/ledger.cc:1: outbox must not include engine", found)

    def test_order_of_the_house(self):
        self.assertTrue(tidy.may_use("app", "engine"))
        self.assertTrue(tidy.may_use("api", "outbox"))
        self.assertTrue(tidy.may_use("reminders", "outbox"))
        self.assertTrue(tidy.may_use("item", "net"))
        self.assertTrue(tidy.may_use("http", "net"))
        self.assertTrue(tidy.may_use("smtp", "mail"))
        self.assertFalse(tidy.may_use("outbox", "reminders"))
        self.assertFalse(tidy.may_use("wire", "engine"))
        self.assertFalse(tidy.may_use("wire", "api"))
        self.assertFalse(tidy.may_use("net", "item"))
        self.assertFalse(tidy.may_use("net", "http"))
        self.assertFalse(tidy.may_use("mail", "smtp"))
        self.assertFalse(tidy.may_use("engine", "remote"))

    def test_order_of_rooms(self):
        self.expect(
            "src/engine/storage/log.h:2: engine/storage must not include engine/items/writer.h",
            {"src/engine/storage/log.h": '#pragma once\n#include "engine/items/writer.h"\n'},
        )
        self.expect(
            "src/engine/tables/rules.cc:1: engine/tables must not include engine/items/writer.h",
            {"src/engine/tables/rules.cc": '#include "engine/items/writer.h"\n'},
        )
        self.expect(
            "src/engine/items/writer.cc:2: engine/items must not include engine/files.h",
            {"src/engine/items/writer.cc": '#include "engine/items/writer.h"\n#include "engine/files.h"\n'},
        )

    def test_neighbours_stay_outside_of_rooms(self):
        inside = '#include "engine/items/writer.h"\n'
        fault = "engine/items/writer.h is inside engine: include a header of src/engine"
        app = {"src/app/CMakeLists.txt": "postino_module(app USES engine)\n",
               "CMakeLists.txt": GOOD["CMakeLists.txt"] + "add_subdirectory(src/app)\n"}
        self.expect(f"src/app/serve.cc:1: {fault}", {**app, "src/app/serve.cc": inside})
        self.assertEqual(self.faults({**app, "src/app/serve.cc": '#include "engine/files.h"\n'}), [])
        self.assertEqual(
            self.faults({**app, "src/app/serve_test.cc": '#include "engine/storage/log_testing.h"\n'}), [])
        with mock.patch.object(tidy, "ASSEMBLED", {"engine"}):
            self.assertEqual(self.faults({**app, "src/app/serve.cc": inside}), [])
        built = {"tests/CMakeLists.txt": GOOD["tests/CMakeLists.txt"] + "file(GLOB */*.cc)\n"}
        self.expect(f"tests/wire/a.cc:1: {fault}", {**built, "tests/wire/a.cc": inside})
        with mock.patch.object(tidy, "ASSEMBLED", {"engine"}):
            self.assertEqual(self.faults({**built, "tests/wire/a.cc": inside}), [])
            self.assertIn(f"src/wire/a.cc:1: {fault}", self.faults({"src/wire/a.cc": inside}))
        for folder in ["engine", "engine_e2e", "fuzz"]:
            self.assertEqual(self.faults({**built, f"tests/{folder}/a.cc": inside}), [])
        bench = {"CMakeLists.txt": GOOD["CMakeLists.txt"] + "add_subdirectory(bench)\n",
                 "bench/CMakeLists.txt": "file(GLOB *.cc)\n"}
        self.assertEqual(self.faults({**bench, "bench/bench_engine.cc": inside}), [])

    def test_unknown_room(self):
        self.expect("src/engine/attic/a.cc:1: 'attic' is no room of module 'engine'", {"src/engine/attic/a.cc": ""})
        self.expect("src/base/attic/a.cc:1: 'attic' is no room of module 'base'", {"src/base/attic/a.cc": ""})
        self.expect("src/engine/items/box/a.cc:1: a room has no folders", {"src/engine/items/box/a.cc": ""})

    def test_crowded_folder(self):
        many = {f"src/base/clock_{number}.cc": "" for number in range(tidy.FOLDER_LIMIT)}
        count = tidy.FOLDER_LIMIT + 3
        self.expect(f"src/base:1: {count} files, more than {tidy.FOLDER_LIMIT}", many)

    def test_folder_of_tests_that_no_module_is_called(self):
        def moved(name):
            return {
                "tests/CMakeLists.txt": GOOD["tests/CMakeLists.txt"] + f"add_subdirectory({name})\n",
                f"tests/{name}/CMakeLists.txt": f"add_executable({name}_test {name}_test.cc)\n",
                f"tests/{name}/{name}_test.cc": "",
            }

        self.expect("tests/streaming:1: a folder of tests has the name of no module", moved("streaming"))
        self.assertEqual(self.faults(moved("engine")), [])

    def test_documented_house(self):
        def drawn(levels):
            return "```text\n" + "".join("  ".join(level) + "\n" for level in reversed(levels)) + "```\n"

        link = {"README.md": GOOD["README.md"] + "[contributing](CONTRIBUTING.md) [house](docs/architecture.md)\n"}
        floors = drawn(tidy.FLOORS)
        rooms = drawn([["engine/storage"], ["engine/tables", "engine/items"]])
        names = ["base", "item", "engine", "engine/storage", "engine/tables"]
        table = "# House\n" + "".join(f"| `{name}` | what it is |\n" for name in names)
        good = {**link, "CONTRIBUTING.md": floors + rooms, "docs/architecture.md": table + "| `engine/items` | it |\n"}
        self.assertEqual(self.faults(good), [])
        self.expect("CONTRIBUTING.md:1: the floors of the house are not those of tools/tidy",
                    {**good, "CONTRIBUTING.md": floors.replace("expr\n", "") + rooms})
        self.expect("CONTRIBUTING.md:1: the rooms of engine are not those of tools/tidy",
                    {**good, "CONTRIBUTING.md": floors})
        self.expect("CONTRIBUTING.md:1: more rooms are drawn than tools/tidy has",
                    {**good, "CONTRIBUTING.md": floors + rooms + drawn([["engine/storage"]])})
        self.expect("docs/architecture.md:1: no table has a line about `engine/items`",
                    {**good, "docs/architecture.md": table})

    def test_unknown_module(self):
        found = self.faults({"src/stuff/a.cc": ""})
        self.assertIn("src/stuff/a.cc:1: module 'stuff' has no floor in the house", found)

    def test_include_without_module(self):
        self.expect(
            'src/item/value.cc:1: include "value.h" does not begin with a module',
            {"src/item/value.cc": '#include "value.h"\n'},
        )

    def test_library_outside_its_module(self):
        for header, owner in [
            ("rocksdb/db.h", "engine"),
            ("boost/asio.hpp", "http"),
            ("sys/socket.h", "http and net"),
            ("gmime/gmime.h", "mail"),
            ("proton/message.hpp", "broker"),
            ("mysql.h", "mysql"),
            ("mariadb/mysql.h", "mysql"),
            ("simdjson.h", "item and json and remote and wire"),
        ]:
            self.expect(
                f"src/base/clock.cc:2: <{header}> belongs to {owner}",
                {"src/base/clock.cc": f'#include "base/clock.h"\n#include <{header}>\n'},
            )

    def test_library_that_comes_with_a_header(self):
        self.expect(
            "src/engine/items/writer.cc:2: <simdjson.h> comes with item/value.h, and belongs to item and json and remote "
            "and wire",
            {
                "src/item/value.h": '#pragma once\n#include "item/reader.h"\n',
                "src/item/reader.h": "#pragma once\n#include <simdjson.h>\n",
                "src/engine/items/writer.cc": '#include "engine/items/writer.h"\n#include "item/value.h"\n',
            },
        )

    def test_test_library_in_the_product(self):
        self.expect(
            "src/base/clock.cc:1: gtest/gtest.h is for tests only", {"src/base/clock.cc": "#include <gtest/gtest.h>\n"}
        )

    def test_cmake_uses_against_the_order(self):
        self.expect(
            "src/base/CMakeLists.txt:1: base must not use item",
            {"src/base/CMakeLists.txt": "postino_module(base USES item)\n"},
        )

    def test_cmake_uses_unknown_module(self):
        self.expect(
            "src/base/CMakeLists.txt:1: base uses unknown module 'ground'",
            {"src/base/CMakeLists.txt": "postino_module(base USES ground)\n"},
        )

    def test_cmake_uses_is_incomplete(self):
        self.expect(
            "src/item/value.h:2: base is missing from USES in src/item/CMakeLists.txt",
            {"src/item/CMakeLists.txt": "postino_module(item LIBRARIES simdjson::simdjson)\n"},
        )

    def test_cmake_uses_of_a_room_is_incomplete(self):
        self.expect(
            "src/engine/storage/log.h:2: base is missing from USES in src/engine/CMakeLists.txt",
            {"src/engine/CMakeLists.txt": "postino_module(engine)\n"},
        )

    def test_cmake_module_in_the_wrong_folder(self):
        self.expect(
            "src/base/CMakeLists.txt:1: module 'item' stands in folder 'base'",
            {"src/base/CMakeLists.txt": "postino_module(item)\n"},
        )

    def test_empty_names(self):
        for name in ["util", "utils", "common", "helper", "helpers", "manager", "misc", "key_util"]:
            self.expect(f"src/base/{name}.cc:1: the name '{name}' says nothing", {f"src/base/{name}.cc": ""})

    def test_unused_header(self):
        self.expect(
            "src/base/lost.h:1: nothing includes this header",
            {"src/base/lost.h": "#pragma once\n", "src/base/lost.cc": '#include "base/lost.h"\n'},
        )

    def test_unbuilt_source(self):
        self.expect(
            "tests/crash/other.cc:1: no CMakeLists.txt builds this file", {"tests/crash/other.cc": ""},
        )

    def test_test_that_is_not_run(self):
        listed = "add_test(NAME mail COMMAND run test_mail.py)\nadd_executable(crash_test crash_test.cc)\n"
        tests = {"tests/crash/test_mail.py": "# test_lost.py\n", "tests/crash/test_lost.py": "# test_mail.py\n"}
        self.expect(
            "tests/crash/test_lost.py:1: its CMakeLists.txt names other tests, and not this one",
            {"tests/crash/CMakeLists.txt": listed, **tests},
        )
        self.assertEqual(
            self.faults({"tests/crash/CMakeLists.txt": listed + "# test_lost\n", **tests}), [], "both are named"
        )

    def test_source_in_a_room_that_no_module_builds(self):
        self.assertIn(
            "src/engine/items/writer.cc:1: no CMakeLists.txt builds this file",
            self.faults({"src/engine/CMakeLists.txt": "add_library(engine files.cc)\n"}),
        )

    def test_folder_outside_the_build(self):
        self.expect(
            "src/base/CMakeLists.txt:1: no CMakeLists.txt above adds this folder",
            {"CMakeLists.txt": GOOD["CMakeLists.txt"].replace("add_subdirectory(src/base)\n", "")},
        )

    def test_unused_tool(self):
        self.expect("tools/lost:1: nothing refers to this file", {"tools/lost": "#!/bin/sh\n"})

    def test_unused_script(self):
        self.expect("tests/lost.py:1: nothing refers to this file", {"tests/lost.py": ""})

    def test_data_is_used_through_its_folder(self):
        self.assertEqual(
            self.faults({"tests/crash/golden/7f": "\t", "tests/crash/crash_test.cc": 'auto folder = "golden";\n'
                         '#include "engine/files.h"\n'}), [])

    def test_unlinked_document(self):
        self.expect("docs/lost.md:1: no link leads here from README.md", {"docs/lost.md": "# Lost\n"})

    def test_long_file(self):
        self.expect("src/base/clock.cc:701: 702 lines, more than 700", {"src/base/clock.cc": "\n" * 702})

    def test_header_without_guard(self):
        self.expect("src/base/clock.h:1: no #pragma once", {"src/base/clock.h": "\n"})

    def test_white_space(self):
        self.expect("src/base/clock.cc:1: tab", {"src/base/clock.cc": "\tint x;\n"})
        self.expect("src/base/clock.cc:1: white space at the end of the line", {"src/base/clock.cc": "int x; \n"})
        self.expect("src/base/clock.cc:1: no line end at the end of the file", {"src/base/clock.cc": "int x;"})

    def test_links(self):
        self.expect("docs/plan.md:1: link to nowhere: gone.md", {
            "docs/plan.md": "[a](gone.md)\n## The first part\n"})
        self.expect("README.md:3: link to no heading: docs/plan.md#the-first-part", {"docs/plan.md": "# Plan\n"})

    def test_named_files(self):
        for name in ["src/base/gone.cc", "base/gone.h", "tests/gone"]:
            self.expect(f"docs/plan.md:2: there is no {name}", {
                "docs/plan.md": f"## The first part\n`{name}`\n"})
        self.assertEqual(self.faults({
            "docs/plan.md": "## The first part\n`src/base`, `base/clock.h`, `base/other`, `src/<module>/` [c](../CHANGELOG.md)\n",
            "CHANGELOG.md": "`src/base/gone.cc`\n"}), [])

    def test_open_words(self):
        for word in ["TO" "DO", "FIX" "ME", "XX" "X"]:
            self.expect(f"src/base/clock.cc:1: the word {word}", {"src/base/clock.cc": f"// {word} later\n"})
        self.assertEqual(self.faults({"src/base/clock.cc": '// "/tmp/XXXXXX" is no such word\n'}), [])

    def test_actors(self):
        for word in ["Nobody", "Somebody", "Someone", "Whoever"]:
            self.expect(f"src/base/clock.cc:1: the comment says {word.lower()} instead of who", {
                "src/base/clock.cc": f"// {word} waits.\n"})
        self.assertEqual(self.faults({"src/base/clock_test.cc": "// as the user nobody\n"}), [])

    def test_evasions(self):
        for word in ["GTEST_" "SKIP", "DIS" "ABLED_slow", "sleep_" "for", "usl" "eep", "time.sl" "eep"]:
            self.expect(f"src/item/value.cc:2: {word} in src/ or tests/", {
                "src/item/value.cc": f'#include "item/value.h"\n{word}();\n'})


if __name__ == "__main__":
    unittest.main()
