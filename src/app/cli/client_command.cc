#include "app/cli/client_command.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace postino::app {

namespace {

constexpr std::string_view client_option_names[] = {"--url", "--key", "--ca", "--json"};
constexpr const char* client_group = "Server";

bool is_of_pages(std::string_view parameter) { return parameter == "cursor" || parameter == "limit"; }

bool is_upper(char letter) { return letter >= 'A' && letter <= 'Z'; }

// "Only e-mails in this state." -> "only e-mails in this state"; names such as URL stay.
std::string as_help(std::string_view description) {
  std::string text(description);
  while (text.ends_with('.')) text.pop_back();
  if (text.size() > 1 && !is_upper(text[1])) text[0] = base::lower(text[0]);
  return text;
}

// "settings.batchSize" -> "--batch-size"
std::string flag_of(std::string_view field) {
  std::string flag = "--";
  for (const char letter : field.substr(field.rfind('.') + 1)) {
    if (letter == '_') {
      flag += '-';
      continue;
    }
    if (is_upper(letter) && !flag.ends_with('-')) flag += '-';
    flag += base::lower(letter);
  }
  return flag;
}

std::string value_name_of(const api::Schema& schema, std::string_view field) {
  const auto among = [](std::string_view text, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, text) != names.end();
  };
  if (among(schema.reference, {"Mailbox", "OptionalMailbox", "Mailboxes", "RequiredMailboxes"})) return "ADDRESS";
  if (schema.reference == "State") return "STATUS";
  if (schema.reference == "Duration") return "DURATION";
  if (among(schema.format, {"date-time", "date-or-time"})) return "TIME";
  if (schema.format == "date") return "DATE";
  if (among(field, {"from", "to"})) return "ADDRESS";
  if (schema.format == "uuid") return "ID";
  if (schema.format == "uri") return "URL";
  if (schema.type == "integer") return "COUNT";
  if (among(field, {"connection", "queue", "target.queueName", "target.replyToQueue"})) return "NAME";
  return "TEXT";
}

// The choice that is meant, however it is written; what is none of them is for the server to judge.
std::string choice_of(const api::Schema& schema, const std::string& text) {
  for (const std::string& choice : api::resolved(schema).choices)
    if (base::equal_ignoring_case(choice, text)) return choice;
  return text;
}

// As a part of a path it would name another thing, and as a filter it would let everything through.
CLI::Validator not_empty() {
  return {[](const std::string& value) { return value.empty() ? "must not be empty" : ""; }, "", ""};
}

CLI::Option* repeated(CLI::Option* option) {
  return option->expected(1)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

void add_client_options(CLI::App& command, ClientOptions& options) {
  command.add_option("--url", options.url, "URL of the server [POSTINO_URL]; http://127.0.0.1:8080 by default")
      ->type_name("URL")
      ->group(client_group);
  command.add_option("--key", options.key, "secret of an API key, or token of a session [POSTINO_API_KEY]")
      ->type_name("SECRET")
      ->group(client_group);
  command
      .add_option("--ca", options.certificate_file,
                  "file with certificates (PEM) to trust instead of the system's [POSTINO_CA]")
      ->type_name("FILE")
      ->group(client_group);
  command.add_flag("--json", options.json, "print the server's response unchanged")->group(client_group);
}

std::string given_client_option(const CLI::App& command) {
  for (const std::string_view name : client_option_names)
    if (command.count(std::string(name)) > 0) return std::string(name);
  return "";
}

bool is_client_option(const CLI::Option& option) { return option.get_group() == client_group; }

CLI::App& add_command_group(CommandLine& line, CLI::App& parent, const std::string& name,
                            const std::string& description) {
  CLI::App& group = *parent.add_subcommand(name, description);
  add_client_options(group, line.client_options());
  group.require_subcommand(1);
  return group;
}

ClientCommand::ClientCommand(CommandLine& line, CLI::App& parent, const std::string& name, std::string_view operation,
                             const std::string& help)
    : line_(line),
      app_(*parent.add_subcommand(name, help.empty() ? as_help(operation_named(operation).summary) : help)),
      operation_(operation_named(operation)) {
  add_client_options(app_, line.client_options());
}

ClientCommand::ClientCommand(CommandLine& line, CLI::App& existing, std::string_view operation)
    : line_(line), app_(existing), operation_(operation_named(operation)) {}

const api::Schema& ClientCommand::schema_of(std::string_view field) const {
  if (const api::Parameter* const parameter = api::find_parameter(operation_, field)) return parameter->schema;
  const api::Schema* const body = api::body_schema(operation_);
  const api::Schema* const property = body == nullptr ? nullptr : api::find_property(*body, field);
  CHECK(property != nullptr);
  return *property;
}

OptionStyle ClientCommand::complete(std::string_view field, const OptionStyle& style) {
  const api::Schema& schema = schema_of(field);
  OptionStyle full{style.flag.empty() ? flag_of(field) : style.flag,
                   style.value_name.empty() ? value_name_of(schema, field) : style.value_name,
                   style.help.empty() ? help_of(schema) : style.help, style.most};
  fields_.emplace_back(field);
  names_.insert_or_assign(std::string(field), full.flag);
  return full;
}

OptionStyle ClientCommand::complete_argument(std::string_view field, OptionStyle style) {
  if (style.value_name.empty()) style.value_name = base::upper_case(field);
  style.flag = style.value_name;
  return complete(field, style);
}

CLI::Option* ClientCommand::limit(CLI::Option* option, std::string_view field, std::optional<std::int64_t> most) const {
  const api::Schema& schema = schema_of(field);
  if (const api::Parameter* const parameter = api::find_parameter(operation_, field);
      parameter != nullptr && parameter->place == api::ParameterPlace::query)
    option->check(not_empty());
  if (schema.type == "integer" && schema.least && schema.most)
    option->check(CLI::Range(*schema.least, most.value_or(*schema.most)).description(""));
  return option;
}

CLI::Option* ClientCommand::add_flag(std::string_view field, bool& value, const OptionStyle& style) {
  const OptionStyle full = complete(field, style);
  return app_.add_flag(full.flag, value, full.help);
}

CLI::Option* ClientCommand::add_option(std::string_view field, std::vector<std::string>& values,
                                       const OptionStyle& style) {
  const OptionStyle full = complete(field, style);
  return repeated(app_.add_option(full.flag, values, full.help + "; may be repeated")->type_name(full.value_name));
}

void ClientCommand::add_query_options(std::map<std::string, std::string, std::less<>>& values) {
  for (const api::Parameter& parameter : operation_.parameters) {
    if (parameter.place != api::ParameterPlace::query || is_of_pages(parameter.name)) continue;
    const OptionStyle full = complete(parameter.name, {});
    const auto take = [&values, &parameter](const std::string& text) {
      values.insert_or_assign(std::string(parameter.name), choice_of(parameter.schema, text));
    };
    app_.add_option_function<std::string>(full.flag, take, full.help)->type_name(full.value_name)->check(not_empty());
  }
}

CLI::Option* ClientCommand::add_argument(std::string_view field, std::string& value, const OptionStyle& style) {
  const OptionStyle full = complete_argument(field, style);
  return app_.add_option(full.value_name, value, full.help)->type_name(full.value_name)->required()->check(not_empty());
}

CLI::Option* ClientCommand::add_argument(std::string_view field, std::vector<std::string>& values,
                                         const OptionStyle& style) {
  const OptionStyle full = complete_argument(field, style);
  return app_.add_option(full.value_name, values, full.help)
      ->type_name(full.value_name)
      ->required()
      ->check(not_empty());
}

void ClientCommand::run(std::function<int(RestClient& client, const Console& console)> action) {
  const auto call = [&options = line_.client_options(), names = names_,
                     action = std::move(action)](const Console& console) -> int {
    auto client = RestClient::create(options);
    if (!client) return report_error(console, client.error(), misuse);
    client->name_fields([&names](const std::string& field) { return name_on_command_line(names, field); });
    return action(*client, console);
  };
  line_.add({&app_, call, operation_.id, fields_});
}

std::string name_on_command_line(const std::map<std::string, std::string, std::less<>>& names,
                                 const std::string& field) {
  const std::string whole = field.ends_with(']') ? field.substr(0, field.rfind('[')) : field;
  if (const auto found = names.find(whole); found != names.end()) return found->second;
  const std::size_t dot = field.find('.');
  const auto object = dot == std::string::npos ? names.end() : names.find(field.substr(0, dot));
  return object == names.end() ? field : object->second + " " + field.substr(dot + 1);
}

std::string help_of(const api::Schema& schema) {
  const std::string& own = schema.description;
  std::string help = as_help(own.empty() ? api::resolved(schema).description : own);
  if (schema.type == "integer" && schema.least && schema.most)
    help += " (" + std::to_string(*schema.least) + " to " + std::to_string(*schema.most) + ")";
  std::string choices;
  for (const std::string& choice : schema.choices) choices.append(choices.empty() ? "" : ", ").append(choice);
  if (!choices.empty()) help += " (" + choices + ")";
  return help;
}

}  // namespace postino::app
