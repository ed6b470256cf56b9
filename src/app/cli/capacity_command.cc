#include <algorithm>
#include <memory>

#include "app/cli/client_command.h"
#include "app/cli/commands.h"
#include "app/cli/help_format.h"
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
  struct Text {
    std::string value;
    const CLI::Option* option = nullptr;  // whether it was given: the value may be empty by mistake
  };
  std::map<std::string, Text, std::less<>> texts;
  std::map<std::string, bool, std::less<>> flags;
  std::vector<std::string> indexes;  // each "projection=KEYS_ONLY,entry_bytes=120"
};

// Whose prices count, and who calculates.
struct PriceSource {
  CapacitySettings local;
  const CLI::Option* file = nullptr;  // the option that names it
  bool is_server = false;
};

bool is_whole_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

void add_text_option(ClientCommand& command, const std::string& field, const char* value_name, BodyValues::Text& text) {
  text.option = command.add_option(field, text.value, {.value_name = value_name});
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
      add_text_option(command, name, schema.choices.empty() ? "NUMBER" : "NAME", values.texts[name]);
  }
}

void add_price_file(ClientCommand& command, PriceSource& source, const char* help) {
  source.file = command.app().add_option("--prices", source.local.prices, help)->type_name("FILE");
}

void add_price_options(ClientCommand& command, PriceSource& source) {
  add_price_file(command, source, "file with prices (JSON), in the form of 'postino capacity prices'");
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
    if (text.option->count() == 0) continue;
    if (is_whole_number(text.value) && text.value.size() <= 18)
      body.set_json(name, std::to_string(std::stoll(text.value)));
    else
      body.set_text(name, text.value);
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

base::Result<std::string> calculate_here(const OperationCall& call, const PriceSource& source) {
  constexpr auto form = capacity::InputForm::command_line;
  TRY(capacity::PriceBook prices, read_prices(source.local));
  const capacity::Planner planner(std::move(prices));
  json::FieldErrors errors;
  json::Document document;
  CHECK(document.parse(call.body_text(), errors));
  const auto answer = call.operation().id == plan_operation ? planner.estimate_json(document.root(), errors, form)
                                                            : capacity::Planner::former_json(document.root(), errors);
  if (answer) return *answer;
  std::string lines;
  for (const json::FieldError& error : errors.list())
    lines.append(lines.empty() ? "" : "\n")
        .append(capacity::field_text(error.field, form))
        .append(": ")
        .append(error.rule);
  return base::invalid(std::move(lines));
}

// What the command line says was checked before: what the server refuses is no misuse.
base::Result<std::string> fetch_checked(RestClient& client, const OperationCall& call) {
  auto body = client.fetch(call);
  if (!body && body.error().code == base::ErrorCode::invalid) body.error().code = base::ErrorCode::conflict;
  return body;
}

base::Result<void> check_source(const PriceSource& source) {
  if (source.file != nullptr && source.file->count() > 0 && source.local.prices.empty())
    return base::invalid("--prices: must name a file");
  if (source.is_server && !source.local.prices.empty())
    return base::invalid("--prices has no effect with --server: the server has prices of its own");
  return {};
}

base::Result<std::string> calculate(RestClient& client, std::string_view operation, const BodyValues& values,
                                    const PriceSource& source) {
  TRY_VOID(check_source(source));
  OperationCall call(operation);
  TRY_VOID(set_body(call.body(), values));
  // What is wrong with the options is told in their words, also when the server calculates.
  TRY(std::string answer, calculate_here(call, source));
  return source.is_server ? fetch_checked(client, call) : std::move(answer);
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
    TRY(const std::string body, fetch_checked(client, OperationCall(prices_operation)));
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

// An option of this command that was given and would be ignored; nullptr: there is none.
const CLI::Option* ignored_option(const CLI::App& app, std::initializer_list<std::string_view> meant) {
  for (const CLI::Option* const option : app.get_options()) {
    const bool is_meant = std::ranges::find(meant, option->get_name()) != meant.end();
    if (option->count() > 0 && !is_meant && !is_client_option(*option)) return option;
  }
  return nullptr;
}

base::Result<void> check_observed_alone(const CLI::App& plan) {
  const CLI::Option* const ignored = ignored_option(plan, {"--observe", "--server"});
  if (ignored == nullptr) return {};
  if (ignored->get_name() == "--prices")
    return base::invalid("--prices has no effect with --observe: the server has prices of its own");
  return base::invalid(ignored->get_name() +
                       " has no effect with --observe, which shows the traffic that there was: leave out one of them");
}

// Options of a plan in front of another command would be ignored.
base::Result<void> check_no_plan(const CLI::App& command) {
  const CLI::Option* const ignored = ignored_option(*command.get_parent(), {});
  if (ignored == nullptr) return {};
  return base::invalid(ignored->get_name() + " has no effect in front of the command " + command.get_name());
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

int ended(const Console& console, const base::Result<void>& done) {
  if (done) return success;
  const bool is_misused = done.error().code == base::ErrorCode::invalid;
  return report_error(console, done.error(), is_misused ? misuse : failure);
}

// What a command inside the group does, unless options of a plan stand in front of it.
void run_without_plan(ClientCommand& command,
                      const std::function<int(RestClient& client, const Console& console)>& run) {
  command.run([&app = command.app(), run](RestClient& client, const Console& console) -> int {
    const auto checked = check_no_plan(app);
    return checked ? run(client, console) : ended(console, checked);
  });
}

void add_former(CommandLine& line, CLI::App& group) {
  ClientCommand command(line, group, "former", former_operation);
  const auto values = std::make_shared<BodyValues>();
  const auto source = std::make_shared<PriceSource>();
  add_body_options(command, former_operation, *values);
  command.app().add_flag("--server", source->is_server, "have the server calculate");
  run_without_plan(command, [values, source, &shared = command.shared()](RestClient& client, const Console& console) {
    return ended(console, plan_as_formerly(client, *values, *source, shared.json, console));
  });
}

void add_prices(CommandLine& line, CLI::App& group) {
  ClientCommand command(line, group, "prices", prices_operation);
  const auto source = std::make_shared<PriceSource>();
  add_price_file(command, *source, "check this file, and show what it says");
  command.app().add_flag("--server", source->is_server, "show the prices of the server");
  run_without_plan(command, [source](RestClient& client, const Console& console) {
    return ended(console, show_prices(client, *source, console));
  });
}

void add_observation(CommandLine& line, CLI::App& group) {
  ClientCommand command(line, group, "observe", observe_operation);
  run_without_plan(command, [&shared = command.shared()](RestClient& client, const Console& console) {
    return observe(client, shared.json, console);
  });
  ClientCommand restart(line, group, "restart", restart_operation);
  run_without_plan(restart, [](RestClient& client, const Console& console) {
    const auto done = client.fetch(OperationCall(restart_operation));
    return done ? success : report_error(console, done.error());
  });
}

}  // namespace

void add_capacity_command(CommandLine& line) {
  CLI::App& group =
      add_command_group(line, line.program(), "capacity",
                        "calculate what requests take and cost on DynamoDB, and what this store's traffic would");
  group.require_subcommand(0);  // by itself it plans
  add_former(line, group);
  add_prices(line, group);
  add_observation(line, group);
  add_examples(group, {"postino capacity --item-bytes 3072 --strong-reads 100 --writes 20 --storage-gb 50",
                       "postino capacity --item-bytes 500 --writes 10 --index projection=KEYS_ONLY,entry_bytes=120",
                       "postino capacity --observe"});
  ClientCommand command(line, group, plan_operation);
  const auto values = std::make_shared<BodyValues>();
  const auto source = std::make_shared<PriceSource>();
  const auto observes = std::make_shared<bool>(false);
  add_body_options(command, plan_operation, *values);
  add_price_options(command, *source);
  command.app().add_flag("--observe", *observes, "the same as the command observe");
  command.run([values, source, observes, &group, &shared = command.shared()](RestClient& client,
                                                                             const Console& console) -> int {
    if (!*observes) return ended(console, plan(client, *values, *source, shared.json, console));
    const auto checked = check_observed_alone(group);
    return checked ? observe(client, shared.json, console) : ended(console, checked);
  });
}

}  // namespace postino::app
