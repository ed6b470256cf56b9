#include <algorithm>
#include <memory>

#include "app/cli/client_command.h"
#include "app/cli/commands.h"
#include "app/client/answer.h"
#include "app/client/capacity_text.h"
#include "app/settings/capacity_settings.h"
#include "base/check.h"
#include "capacity/planner.h"
#include "json/writer.h"

namespace postino::app {

namespace {

constexpr std::string_view plan_operation = "planCapacity";
constexpr std::string_view former_operation = "planCapacityAsFormerly";
constexpr std::string_view prices_operation = "getCapacityPrices";
constexpr std::string_view observe_operation = "getObservedTraffic";
constexpr std::string_view restart_operation = "restartObservation";

// What the command line says about a body: by the names of its fields.
struct BodyValues {
  std::map<std::string, std::string, std::less<>> texts;
  std::map<std::string, bool, std::less<>> flags;
  std::vector<std::string> indexes;  // each "projection=KEYS_ONLY,entry_bytes=120"
};

// Whose prices count, and who calculates.
struct PriceSource {
  CapacitySettings local;
  bool is_server = false;
};

bool is_whole_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Options for the fields of a body. Numbers may be given as they are written in JSON.
void add_body_options(ClientCommand& command, std::string_view operation, BodyValues& values) {
  const api::Schema* const body = api::body_schema(operation_named(operation));
  CHECK(body != nullptr);
  for (const api::Property& property : body->properties) {
    const std::string name(property.name);
    const api::Schema& schema = api::resolved(property.schema);
    if (schema.type == "boolean")
      command.add_flag(name, values.flags[name], {});
    else if (schema.type == "array")
      command.add_option(name, values.indexes,
                         {.flag = "--index",
                          .value_name = "FIELD=VALUE,...",
                          .help = "a global secondary index, such as projection=KEYS_ONLY,entry_bytes=120,queries=5; "
                                  "ALL, INCLUDE or KEYS_ONLY"});
    else
      command.add_option(name, values.texts[name], {.value_name = schema.choices.empty() ? "NUMBER" : "NAME"});
  }
}

void add_price_options(ClientCommand& command, PriceSource& source) {
  command.app()
      .add_option("--prices", source.local.prices, "file with prices (JSON), in the form of 'postino capacity prices'")
      ->type_name("FILE");
  command.app().add_flag("--server", source.is_server, "have the server calculate, with its prices");
}

// "projection=ALL,queries=5" as an object.
base::Result<std::string> index_json(const std::string& text) {
  std::string object;
  json::Writer json(object);
  json.begin_object();
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const std::size_t equals = part.find('=');
    if (equals == 0 || equals == std::string::npos)
      return base::invalid("--index: must be FIELD=VALUE, with commas between several");
    json.any_key(part.substr(0, equals));
    const std::string value = part.substr(equals + 1);
    if (is_whole_number(value) && value.size() <= 18)
      json.raw(std::to_string(std::stoll(value)));
    else
      json.string(value);
    begin = end + 1;
  }
  json.end_object();
  return object;
}

base::Result<void> set_body(RequestObject& body, const BodyValues& values) {
  for (const auto& [name, text] : values.texts) {
    if (text.empty()) continue;
    if (is_whole_number(text) && text.size() <= 18)
      body.set_json(name, std::to_string(std::stoll(text)));
    else
      body.set_text(name, text);
  }
  for (const auto& [name, is_set] : values.flags)
    if (is_set) body.set_flag(name, true);
  if (values.indexes.empty()) return {};
  std::string list = "[";
  for (const std::string& index : values.indexes) {
    TRY(const std::string object, index_json(index));
    list.append(list.size() > 1 ? "," : "").append(object);
  }
  body.set_json("indexes", list + "]");
  return {};
}

// "item_bytes" -> "--item-bytes"; what is inside an index stays as it is.
std::string option_of(const std::string& field) {
  if (field.find_first_of("[.") != std::string::npos) return field;
  std::string option = "--" + field;
  std::ranges::replace(option, '_', '-');
  return option;
}

base::Result<std::string> calculate_here(const OperationCall& call, const PriceSource& source) {
  TRY(capacity::PriceBook prices, read_prices(source.local));
  const capacity::Planner planner(std::move(prices));
  json::FieldErrors errors;
  json::Document document;
  CHECK(document.parse(call.body_text(), errors));
  const auto answer = call.operation().id == plan_operation ? planner.estimate_json(document.root(), errors)
                                                            : capacity::Planner::former_json(document.root(), errors);
  if (answer) return *answer;
  std::string lines;
  for (const json::FieldError& error : errors.list())
    lines.append(lines.empty() ? "" : "\n").append(option_of(error.field)).append(": ").append(error.rule);
  return base::invalid(std::move(lines));
}

base::Result<void> check_source(const PriceSource& source) {
  if (source.is_server && !source.local.prices.empty())
    return base::invalid("--prices has no effect with --server: the server has prices of its own");
  return {};
}

base::Result<std::string> calculate(RestClient& client, std::string_view operation, const BodyValues& values,
                                    const PriceSource& source) {
  TRY_VOID(check_source(source));
  OperationCall call(operation);
  TRY_VOID(set_body(call.body(), values));
  return source.is_server ? client.fetch(call) : calculate_here(call, source);
}

base::Result<void> plan(RestClient& client, const BodyValues& values, const PriceSource& source, bool json,
                        const Console& console) {
  TRY(const std::string body, calculate(client, plan_operation, values, source));
  TRY(const Answer answer, Answer::parse(plan_operation, body));
  if (json)
    console.print_foreign(body);
  else
    print_estimate(answer.root(), console);
  return {};
}

base::Result<void> plan_as_formerly(RestClient& client, const BodyValues& values, const PriceSource& source, bool json,
                                    const Console& console) {
  TRY(const std::string body, calculate(client, former_operation, values, source));
  json::Document document;
  json::FieldErrors errors;
  if (json || !document.parse(body, errors))
    console.print_foreign(body);
  else
    print_former_analysis(document.root(), console);
  return {};
}

base::Result<void> show_prices(RestClient& client, const PriceSource& source, const Console& console) {
  TRY_VOID(check_source(source));
  if (source.is_server) {
    TRY(const std::string body, client.fetch(OperationCall(prices_operation)));
    console.print_foreign(body);
    return {};
  }
  TRY(const capacity::PriceBook prices, read_prices(source.local));
  // Those of a file are printed as they were read, which shows that they can be.
  if (source.local.prices.empty())
    console.out << capacity::built_in_prices_text();
  else
    console.print_foreign(capacity::to_json(prices));
  return {};
}

int observe(RestClient& client, bool json, const Console& console) {
  const auto show = [&]() -> base::Result<void> {
    TRY(const std::string body, client.fetch(OperationCall(observe_operation)));
    TRY(const Answer answer, Answer::parse(observe_operation, body));
    if (json)
      console.print_foreign(body);
    else
      print_observation(answer.root(), console);
    return {};
  };
  const auto shown = show();
  return shown ? success : report_error(console, shown.error());
}

// What no server was asked for was refused because of the command line itself.
int ended(const Console& console, const base::Result<void>& done, const PriceSource& source) {
  if (done) return success;
  const bool is_ours = !source.is_server || !check_source(source);
  const bool is_misused = is_ours && done.error().code == base::ErrorCode::invalid;
  return report_error(console, done.error(), is_misused ? misuse : failure);
}

void add_former(CommandLine& line, CLI::App& group) {
  ClientCommand command(line, group, "former", former_operation);
  const auto values = std::make_shared<BodyValues>();
  const auto source = std::make_shared<PriceSource>();
  add_body_options(command, former_operation, *values);
  command.app().add_flag("--server", source->is_server, "have the server calculate");
  command.run([values, source, &shared = command.shared()](RestClient& client, const Console& console) -> int {
    return ended(console, plan_as_formerly(client, *values, *source, shared.json, console), *source);
  });
}

void add_prices(CommandLine& line, CLI::App& group) {
  ClientCommand command(line, group, "prices", prices_operation);
  const auto source = std::make_shared<PriceSource>();
  command.app()
      .add_option("--prices", source->local.prices, "check this file, and show what it says")
      ->type_name("FILE");
  command.app().add_flag("--server", source->is_server, "show the prices of the server");
  command.run([source](RestClient& client, const Console& console) -> int {
    return ended(console, show_prices(client, *source, console), *source);
  });
}

void add_observation(CommandLine& line, CLI::App& group) {
  ClientCommand command(line, group, "observe", observe_operation);
  command.run([&shared = command.shared()](RestClient& client, const Console& console) -> int {
    return observe(client, shared.json, console);
  });
  ClientCommand restart(line, group, "restart", restart_operation);
  restart.run([](RestClient& client, const Console& console) -> int {
    const auto done = client.fetch(OperationCall(restart_operation));
    return done ? success : report_error(console, done.error());
  });
}

}  // namespace

void add_capacity_command(CommandLine& line) {
  CLI::App& group = add_command_group(
      line, "capacity", "calculate what requests take and cost on DynamoDB, and what this store's traffic would");
  add_former(line, group);
  add_prices(line, group);
  add_observation(line, group);
  ClientCommand command(line, group, plan_operation);
  const auto values = std::make_shared<BodyValues>();
  const auto source = std::make_shared<PriceSource>();
  const auto observes = std::make_shared<bool>(false);
  add_body_options(command, plan_operation, *values);
  add_price_options(command, *source);
  command.app().add_flag("--observe", *observes, "the same as the command observe");
  command.run(
      [values, source, observes, &shared = command.shared()](RestClient& client, const Console& console) -> int {
        if (*observes) return observe(client, shared.json, console);
        return ended(console, plan(client, *values, *source, shared.json, console), *source);
      });
}

}  // namespace postino::app
