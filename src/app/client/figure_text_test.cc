#include "app/client/figure_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace postino::app {
namespace {

using ::testing::ElementsAre;

std::string shown(const std::string& json, std::string (*text_of)(json::Element)) {
  json::Document document;
  json::FieldErrors errors;
  EXPECT_TRUE(document.parse(json, errors));
  return text_of(document.root());
}

TEST(FigureText, HasALineForEachFigure) {
  EXPECT_EQ(shown(R"({"tickets_by_status":{"NEW":1200,"READY":3},
                      "avg_resolution_time":{"count":3,"total":37.5,"average":12.5},
                      "sources":[{"name":"tickets","counted_anew_because":"an operator wants it"},{"name":"emails"}]})",
                  figures_text),
            "FIGURE                   COUNT  AVERAGE\n"
            "tickets_by_status NEW    1,200\n"
            "tickets_by_status READY      3\n"
            "avg_resolution_time          3     12.5\n"
            "tickets may be wrong until they are counted again: an operator wants it\n");
}

TEST(FigureText, HasALineForEachThingThatHappened) {
  EXPECT_EQ(shown(R"({"data":[{"begin":"2026-11-17T23:00:00.000Z","tickets_created":{"count":2},
                               "tickets_resolved":{"count":1,"total":30,"average":30}}]})",
                  history_text),
            "BEGIN                     WHAT              COUNT  AVERAGE\n"
            "2026-11-17T23:00:00.000Z  tickets_created       2\n"
            "2026-11-17T23:00:00.000Z  tickets_resolved      1       30\n");
}

// However the bytes of events come.
TEST(EventReader, TakesTheDataOfWholeEvents) {
  const std::string events =
      ":\n\nevent: figures\nid: 1\ndata: {\"a\":1}\n\n:\n\nevent: figures\ndata: {}\n\ndata: cut";
  for (std::size_t size = 1; size <= events.size(); ++size) {
    EventReader reader;
    std::vector<std::string> told;
    for (std::size_t begin = 0; begin < events.size(); begin += size)
      reader.feed(std::string_view(events).substr(begin, size),
                  [&](std::string_view data) { told.emplace_back(data); });
    EXPECT_THAT(told, ElementsAre(R"({"a":1})", "{}")) << size;
  }
}

}  // namespace
}  // namespace postino::app
