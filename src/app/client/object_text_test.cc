#include "app/client/object_text.h"

#include <gtest/gtest.h>

namespace postino::app {
namespace {

std::string text_of(std::string_view json) {
  json::Document document;
  json::FieldErrors errors;
  EXPECT_TRUE(document.parse(json, errors));
  return object_text(document.root());
}

TEST(ObjectText, HasALineForEachMember) {
  EXPECT_EQ(text_of(R"({"id":"a","revision":2,"late":false,"invoices":["one","two"]})"),
            "id        a\nrevision  2\nlate      false\ninvoices  one, two\n");
}

TEST(ObjectText, LeavesOutWhatIsEmpty) { EXPECT_EQ(text_of(R"({"a":"","b":null,"c":[],"d":{},"e":0})"), "e  0\n"); }

TEST(ObjectText, WhatIsInsideOthersIsBelowThem) {
  EXPECT_EQ(text_of(R"({"decision":{"allowed":true},"lines":[{"line":3,"field":"x"},{"line":4}]})"),
            "decision\n  allowed  true\nlines\n  - line   3\n    field  x\n  - line  4\n");
}

TEST(ObjectText, TextsOfSeveralLinesAreBelowTheirNames) {
  EXPECT_EQ(text_of(R"({"body":"Dear Ann,\n\npay.\n","id":"a"})"), "body\n  Dear Ann,\n\n  pay.\nid    a\n");
}

TEST(ObjectText, ADiffHasALineForEachLine) {
  EXPECT_EQ(text_of(R"({"to":2,"email_content":[" Dear Ann,","-pay, please","+pay now"]})"),
            "to             2\nemail_content\n   Dear Ann,\n  -pay, please\n  +pay now\n");
}

TEST(ObjectText, ControlsNoTerminal) {
  EXPECT_EQ(text_of(R"({"na\u001bme":"a\u001b[2Jb","lines":"a\n\u001b[2J"})"), "na me  a [2Jb\nlines\n  a\n   [2J\n");
}

}  // namespace
}  // namespace postino::app
