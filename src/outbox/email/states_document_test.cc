// docs/states.md says what the state machine does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "outbox/email/state_machine_testing.h"

namespace postino::outbox {
namespace {

using Edge = std::pair<std::string, std::string>;

std::string read_document() {
  std::ifstream file(POSTINO_SOURCE_DIR "/docs/states.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The lines from the one after `begin` to the one before `end`.
std::vector<std::string> lines_between(const std::string& begin, const std::string& end) {
  std::vector<std::string> found;
  bool inside = false;
  for (const std::string& line : lines_of(read_document())) {
    if (inside && line == end) break;
    if (inside) found.push_back(line);
    if (line == begin) inside = true;
  }
  return found;
}

std::string quoted(State state) { return "`" + std::string(name_of(state)) + "`"; }

std::string joined(const std::vector<std::string>& parts, const std::string& separator) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : separator) + part;
  return text;
}

std::string quoted(const std::vector<State>& states) {
  std::vector<std::string> names;
  for (const State state : states) names.push_back(quoted(state));
  return joined(names, ", ");
}

bool moves(const Rule& rule) { return !rule.from || rule.to != std::vector<State>{*rule.from}; }

// "`READY` to `PROCESSING`; ..." or, for what stays in its state, "`PROCESSING`".
std::string text_of(const EventRules& event) {
  std::vector<std::string> parts;
  for (const Rule& rule : event.rules)
    parts.push_back(moves(rule) ? (rule.from ? quoted(*rule.from) : "new") + " to " + quoted(rule.to)
                                : quoted(*rule.from));
  return event.rules.size() == state_count ? "any" : joined(parts, "; ");
}

std::vector<std::string> event_table(bool of_moves) {
  std::vector<std::string> rows;
  for (const EventRules& event : event_rules())
    if (moves(event.rules.front()) == of_moves)
      rows.push_back("| " + std::string(event.name) + " | " + std::string(event.actor) + " | " + text_of(event) + " |");
  return rows;
}

std::string kind_name(State state) {
  if (kind_of(state) == StateKind::waiting) return "waiting";
  return kind_of(state) == StateKind::working ? "working" : "resting";
}

// A line of the drawing is a way: "READY --> PROCESSING --> SENT". What is before the first state is for the eye.
std::set<Edge> drawn_edges() {
  std::set<Edge> edges;
  for (const std::string& line : lines_between("```text", "```")) {
    std::istringstream words(line);
    std::string last;
    bool arrow = false;
    for (std::string word; words >> word;) {
      if (word == "-->") {
        arrow = true;
        continue;
      }
      if (!parse_state(word)) continue;
      if (arrow && !last.empty()) edges.emplace(last, word);
      last = word;
      arrow = false;
    }
  }
  return edges;
}

TEST(StatesDocument, TheDrawingHasEveryWayAndNoOther) {
  std::set<Edge> expected;
  for (const State from : all_states())
    for (const State to : all_states())
      if (may_follow(from, to)) expected.emplace(name_of(from), name_of(to));
  EXPECT_EQ(drawn_edges(), expected);
}

TEST(StatesDocument, TheTableOfStatesIsThatOfTheMachine) {
  std::vector<std::string> rows;
  for (const std::string& line : lines_of(read_document()))
    if (line.starts_with("| `")) rows.push_back(line);
  ASSERT_EQ(rows.size(), state_count);
  for (const State state : all_states()) {
    std::vector<State> successors;
    for (const State to : all_states())
      if (may_follow(state, to)) successors.push_back(to);
    const std::string& row = rows[index_of(state)];
    EXPECT_TRUE(row.starts_with("| " + quoted(state) + " | " + kind_name(state) + " | ")) << row;
    EXPECT_TRUE(row.ends_with(" | " + (successors.empty() ? "" : quoted(successors) + " ") + "|"))
        << row << "\nmust end with " << quoted(successors);
  }
}

TEST(StatesDocument, TheTablesOfEventsAreThoseOfTheMachine) {
  const std::string head = "|---|---|---|";
  EXPECT_EQ(joined(lines_between(head, ""), "\n"), joined(event_table(true), "\n")) << "events that lead to a state";
  const std::string text = read_document();
  const std::string second = "\n" + head + "\n" + joined(event_table(false), "\n") + "\n\n";
  EXPECT_THAT(text, testing::HasSubstr(second)) << "events within a state";
}

}  // namespace
}  // namespace postino::outbox
