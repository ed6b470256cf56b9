#include <memory>

#include "app/cli/commands.h"
#include "app/cli/help_format.h"
#include "app/cli/listing_command.h"
#include "app/cli/operation_command.h"
#include "app/client/figure_text.h"
#include "json/document.h"

namespace postino::app {

namespace {

constexpr std::string_view figures_operation = "getFigures", watch_operation = "watchFigures",
                           history_operation = "getFigureHistory";

struct FigureOptions {
  std::map<std::string, std::string, std::less<>> query;
  bool follow = false;
};

OperationCall call_of(std::string_view operation, const FigureOptions& options) {
  OperationCall call(operation);
  for (const auto& [parameter, value] : options.query) call.set(parameter, value);
  return call;
}

base::Result<void> print_answer(std::string_view body, bool json, const Console& console,
                                std::string (*text_of)(json::Element)) {
  json::Document document;
  json::FieldErrors errors;
  if (!document.parse(body, errors) || !document.root().is_object())
    return base::fail(base::ErrorCode::malformed, "the response is not from a Postino server. Is --url right?");
  if (json) {
    console.print_foreign(body);
    return {};
  }
  const std::string text = text_of(document.root());
  console.out << text;
  if (text.empty()) console.errors << none_found;
  return {};
}

// Each time that the figures change, until the server ends or the reader of the output does.
base::Result<void> follow_figures(RestClient& client, const FigureOptions& options, bool json, const Console& console) {
  EventReader events;
  base::Result<void> printed;
  TRY_VOID(client.follow(call_of(watch_operation, options), [&](std::string_view part) {
    events.feed(part, [&](std::string_view data) {
      if (!printed) return;
      printed = print_answer(data, json, console, figures_text);
      if (!json) console.out << "\n";
      console.out << std::flush;
    });
    return printed.has_value() && console.out.good();
  }));
  return printed;
}

base::Result<void> show_figures(RestClient& client, const FigureOptions& options, bool json, const Console& console) {
  if (options.follow) return follow_figures(client, options, json, console);
  TRY(const std::string body, client.fetch(call_of(figures_operation, options)));
  return print_answer(body, json, console, figures_text);
}

void add_history(CommandLine& line, CLI::App& group) {
  ClientCommand command(line, group, "history", history_operation);
  const auto options = std::make_shared<FigureOptions>();
  command.add_argument("source", options->query["source"]);
  command.add_query_options(options->query);
  command.run([options, &shared = command.shared()](RestClient& client, const Console& console) -> int {
    const auto body = client.fetch(call_of(history_operation, *options));
    if (!body) return report_error(console, body.error());
    const auto printed = print_answer(*body, shared.json, console, history_text);
    return printed ? success : report_error(console, printed.error());
  });
}

void add_watch(CommandLine& line, CLI::App& group) {
  ClientCommand command(line, group, "watch", watch_operation, "show the figures again after each change");
  const auto options = std::make_shared<FigureOptions>();
  command.add_query_options(options->query);
  command.run([options, &shared = command.shared()](RestClient& client, const Console& console) -> int {
    const auto shown = follow_figures(client, *options, shared.json, console);
    return shown ? success : report_error(console, shown.error());
  });
}

const Listing& follower_listing() {
  static const Listing listing{"listFollowers",
                               "reading followers",
                               {{"NAME", "name"},
                                {"KIND", "kind"},
                                {"TABLE", "table"},
                                {"LAG MS", "lag_milliseconds", Align::right},
                                {"CHANGES", "changes", Align::right},
                                {"SET ASIDE", "set_aside", Align::right},
                                {"FAILURES", "failures", Align::right},
                                {"PROBLEM", "problem"}}};
  return listing;
}

const Listing& set_aside_listing() {
  static const Listing listing{
      "listSetAside",
      "reading changes",
      {{"ID", "id"}, {"TABLE", "table"}, {"EVENT", "event"}, {"SINCE", "set_aside_at"}, {"REASON", "reason"}}};
  return listing;
}

void add_set_aside(CommandLine& line, CLI::App& metrics) {
  CLI::App& group = add_command_group(line, metrics, "set-aside", "changes that could not be counted or delivered");
  ClientCommand list(line, group, "list", "listSetAside");
  run_listing(list, set_aside_listing());
  add_operation_command(line, group, {"retry", "retrySetAside"});
  add_operation_command(line, group, {"drop", "dropSetAside"});
}

}  // namespace

void add_metrics_command(CommandLine& line) {
  CLI::App& group =
      add_command_group(line, line.program(), "metrics", "show live figures, their history, and what follows changes");
  group.require_subcommand(0);  // by itself it shows the figures
  add_watch(line, group);
  add_history(line, group);
  ClientCommand followers(line, group, "followers", "listFollowers");
  run_listing(followers, follower_listing());
  add_operation_command(line, group, {"recount", "recountFigures"});
  add_set_aside(line, group);
  add_examples(group, {"postino metrics", "postino metrics --follow", "postino metrics history tickets --unit days",
                       "postino metrics followers"});
  ClientCommand command(line, group, figures_operation);
  const auto options = std::make_shared<FigureOptions>();
  command.add_query_options(options->query);
  command.app().add_flag("--follow", options->follow, "the same as the command watch");
  command.run([options, &shared = command.shared()](RestClient& client, const Console& console) -> int {
    const auto shown = show_figures(client, *options, shared.json, console);
    return shown ? success : report_error(console, shown.error());
  });
}

}  // namespace postino::app
