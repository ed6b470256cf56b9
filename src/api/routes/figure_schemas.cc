// The shapes of what is said about figures, and about what follows the changes of tables.
#include "api/protocol/schemas.h"
#include "api/routes/schema_parts.h"

namespace postino::api {

namespace {

using enum Presence;

Schema decimal_number(std::string description) { return {.type = "number", .description = std::move(description)}; }

Schema counts_by(const std::string& what) {
  return {.type = "object", .description = "How many there are, by " + what + ".", .elements = {count()}};
}

Schema measured(const std::string& what) {
  return {.type = "object",
          .description = what,
          .properties = {{"count", count("How many were measured."), required},
                         {"total", decimal_number("The sum."), required},
                         {"average", decimal_number("0 if there are none."), required}}};
}

Schema figures() {
  const Schema source{
      .type = "object",
      .properties = {
          {"name", text(), required},
          {"as_of", time("When changes were last counted; absent: nothing was counted yet.")},
          {"counted_anew_because", text("Why everything is counted again, and the figures may be wrong until "
                                        "then.")}}};
  return {.type = "object",
          .description = "Figures of what the server does not count are absent.",
          .properties = {{"tickets_by_status", counts_by("status")},
                         {"avg_resolution_time", measured("Seconds that tickets took.")},
                         {"customer_satisfaction", measured("Ratings, from 1 to 5.")},
                         {"emails_by_state", counts_by("state")},
                         {"reminders_by_status", counts_by("status")},
                         {"reminders_by_type", counts_by("type: those that were sent")},
                         {"sources", list_of(source, "What is counted."), required}}};
}

Schema history() {
  const Schema amount{.type = "object",
                      .properties = {{"count", count(), required},
                                     {"total", decimal_number("The sum of what was measured.")},
                                     {"average", decimal_number("The same for each.")}}};
  const Schema point{.type = "object",
                     .description = "What happened: tickets_created, tickets_moved#READY, emails_accepted and so on.",
                     .properties = {{"begin", time("Where the minute, hour or day begins."), required}},
                     .elements = {amount}};
  return {.type = "object", .properties = {{"data", list_of(point), required}}};
}

Schema follower() {
  return {.type = "object",
          .properties = {{"name", text(), required},
                         {"kind", {.type = "string", .choices = {"source", "subscriber"}}, required},
                         {"table", text("Whose changes it follows."), required},
                         {"follows", flag("Whether this server follows them."), required},
                         {"lag_milliseconds", count("Age of the oldest change that it has not handled."), required},
                         {"changes", count("Handled since the start."), required},
                         {"set_aside", count("Changes that could not be handled, since the start."), required},
                         {"begun", count("Times that everything was done again, since the start."), required},
                         {"failures", count("Rounds that failed and were repeated, since the start."), required},
                         {"problem", text("Why it cannot go on at the moment.")}}};
}

Schema set_aside() {
  const auto attributes = [](std::string description) {
    return Schema{.type = "object", .description = std::move(description), .elements = {Schema{}}};
  };
  return {.type = "object",
          .properties = {{"id", text(), required},
                         {"follower", text("Name of the source or subscriber."), required},
                         {"kind", {.type = "string", .choices = {"source", "subscriber"}}, required},
                         {"table", text("Whose change it is."), required},
                         {"reason", text(), required},
                         {"set_aside_at", time(), required},
                         {"event",
                          {.type = "string",
                           .description = "SCAN: an item that was found when all were counted again. GAP: changes that "
                                          "were gone before they were read.",
                           .choices = {"INSERT", "MODIFY", "REMOVE", "SCAN", "GAP"}},
                          required},
                         {"sequence", text("Of the change in the stream.")},
                         {"keys", attributes("In DynamoDB's JSON."), required},
                         {"old", attributes("The item before the change; absent if it is too large to be kept.")},
                         {"new", attributes("The item after the change.")}}};
}

}  // namespace

std::vector<NamedSchema> figure_schemas() {
  return {
      {"Figures", figures()},
      {"FigureHistory", history()},
      {"Follower", follower()},
      {"FollowerList", {.type = "object", .properties = {{"data", list_of(like("Follower")), required}}}},
      {"SetAside", set_aside()},
      {"SetAsidePage", page_of("SetAside")},
  };
}

}  // namespace postino::api
