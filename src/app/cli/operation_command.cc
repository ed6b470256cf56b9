#include "app/cli/operation_command.h"

#include <algorithm>
#include <memory>

#include "api/protocol/limits.h"
#include "app/client/answer.h"
#include "app/client/json_file.h"
#include "app/client/listing.h"
#include "app/client/object_text.h"
#include "app/console/input_file.h"
#include "app/console/terminal_text.h"
#include "base/base64.h"
#include "base/random.h"
#include "json/writer.h"

namespace postino::app {

namespace {

constexpr std::int64_t long_text = 10'000;  // too long for an argument
constexpr std::string_view key_header = "Idempotency-Key";
constexpr std::string_view base64_encoding = "base64";

// What the command line says about a field of the body.
struct FieldValue {
  std::string name;  // its path: "customer.id"
  std::string flag;
  const api::Schema* schema = nullptr;
  std::string text;
  std::string file;  // to read the text, or the objects, from
  std::vector<std::string> texts;
  const CLI::Option* option = nullptr;  // of a text: what was given may be empty
  bool is_set = false;
  bool is_required = false;  // of a text that may come from a file: one of both
};

struct CommandValues {
  std::map<std::string, std::string, std::less<>> parameters;
  std::vector<std::unique_ptr<FieldValue>> fields;
  std::string key;  // empty: a new one
};

bool is_list_of_objects(const api::Schema& schema) {
  return schema.type == "array" && !schema.elements.empty() && !api::resolved(schema.elements.front()).type.empty() &&
         api::resolved(schema.elements.front()).type == "object";
}

std::string value_name(const api::Schema& schema) {
  if (schema.type == "integer") return "NUMBER";
  if (schema.format == "date") return "DATE";
  return "";
}

// "customer.id" -> "--customer-id"; a field of the body itself has the flag of its name.
std::string flag_of_path(const std::string& path) {
  if (path.find('.') == std::string::npos) return "";
  std::string flag = "--" + path;
  for (char& letter : flag)
    if (letter == '.' || letter == '_') letter = '-';
  return flag;
}

// "message_base64" -> "--message-file"
std::string file_flag(const std::string& field) {
  constexpr std::string_view ending = "_base64";
  return "--" + field.substr(0, field.ends_with(ending) ? field.size() - ending.size() : field.size()) + "-file";
}

void add_field(ClientCommand& command, const api::Property& property, bool is_required, FieldValue& field) {
  const api::Schema& schema = api::resolved(property.schema);
  field.flag = flag_of_path(field.name);
  field.schema = &schema;
  if (schema.type == "boolean") {
    command.add_flag(field.name, field.is_set, {.flag = field.flag});
  } else if (is_list_of_objects(schema)) {
    command
        .add_option(field.name, field.file,
                    {.flag = "--file",
                     .value_name = "FILE",
                     .help = "file with " + field.name +
                             ": JSON, one, an array, or one per line; - is the standard "
                             "input"})
        ->required();
  } else if (schema.type == "object") {
    if (field.name == "variables") field.flag = "--variable";
    if (field.name == "details") field.flag = "--detail";
    field.flag =
        command.add_option(field.name, field.texts, {.flag = field.flag, .value_name = "NAME=VALUE"})->get_name();
  } else if (schema.type == "array") {
    command.add_option(field.name, field.texts, {.flag = field.flag});
  } else if (schema.content_encoding == base64_encoding) {
    command.add_option(field.name, field.file,
                       {.flag = file_flag(field.name),
                        .value_name = "FILE",
                        .help = "file with the bytes of " + field.name + "; - is the standard input"});
  } else {
    const bool is_long = schema.type == "string" && schema.most.value_or(0) > long_text;
    CLI::Option* const option =
        command.add_option(field.name, field.text, {.flag = field.flag, .value_name = value_name(property.schema)});
    field.option = option;
    if (!is_long) {
      option->required(is_required);
      return;
    }
    field.flag = option->get_name();
    field.is_required = is_required;
    command.app()
        .add_option(field.flag + "-file", field.file,
                    "file with the text of " + field.flag + "; - is the standard input")
        ->type_name("FILE")
        ->excludes(option);
  }
}

// What is in an object gets options of its own.
void add_fields(ClientCommand& command, const api::Property& property, const std::string& path, bool is_required,
                CommandValues& values) {
  const api::Schema& schema = api::resolved(property.schema);
  if (schema.type != "object" || schema.properties.empty()) {
    FieldValue& field = *values.fields.emplace_back(std::make_unique<FieldValue>());
    field.name = path;
    return add_field(command, property, is_required, field);
  }
  for (const api::Property& each : schema.properties)
    add_fields(command, each, path + "." + std::string(each.name),
               is_required && each.presence == api::Presence::required, values);
}

// What the parser cannot know to be missing or malformed.
base::Result<void> check_values(const CommandValues& values) {
  for (const auto& field : values.fields) {
    if (field->is_required && field->text.empty() && field->file.empty())
      return base::invalid("one of " + field->flag + " and " + field->flag + "-file is required");
    if (field->schema->type != "object") continue;
    for (const std::string& each : field->texts)
      if (each.starts_with('=') || each.find('=') == std::string::npos)
        return base::invalid(field->flag + ": must be NAME=VALUE");
  }
  return {};
}

std::string variables_json(const FieldValue& field) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  for (const std::string& each : field.texts) {
    const std::size_t equals = each.find('=');
    json.any_key(each.substr(0, equals)).string(each.substr(equals + 1));
  }
  json.end_object();
  return text;
}

base::Result<std::string> list_json(const FieldValue& field) {
  TRY(const std::string text, read_input(field.file, api::Limits::body_bytes));
  const auto objects = read_json_file(text, {field.name, "an object", field.name});
  if (!objects)
    return base::invalid((field.file == "-" ? "the standard input" : printable(field.file)) + ": " +
                         objects.error().message);
  std::string list = "[";
  for (const std::string& object : *objects) list.append(list.size() > 1 ? "," : "").append(object);
  return list + "]";
}

base::Result<void> set_field(RequestObject& body, const FieldValue& field) {
  const api::Schema& schema = *field.schema;
  if (schema.type == "boolean") {
    if (field.is_set) body.set_flag(field.name, true);
    return {};
  }
  if (is_list_of_objects(schema)) {
    TRY(std::string list, list_json(field));
    body.set_json(field.name, std::move(list));
    return {};
  }
  if (schema.type == "object" && !field.texts.empty()) {
    body.set_json(field.name, variables_json(field));
    return {};
  }
  if (schema.type == "array" && !field.texts.empty()) {
    body.set_texts(field.name, field.texts);
    return {};
  }
  std::string text = field.text;
  if (!field.file.empty()) {
    TRY(text, read_input(field.file, api::Limits::body_bytes));
  }
  if (schema.content_encoding == base64_encoding) text = base::to_base64(text);
  // An empty variable or file is for the server to judge: it may be a mistake.
  if (text.empty() && field.file.empty() && (field.option == nullptr || field.option->count() == 0)) return {};
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (schema.type == "integer" && is_number)
    body.set_json(field.name, text);
  else
    body.set_text(field.name, text);
  return {};
}

// `partly` when some of several were refused.
int status_of(json::Element answer) {
  const auto summary = answer.member("summary");
  const auto failed = summary ? summary->member("failed") : std::nullopt;
  return failed && failed->integer().value_or(0) > 0 ? partly : success;
}

bool is_empty_list(json::Element answer) {
  const auto data = answer.member("data");
  return data && data->is_array() && data->elements().empty();
}

base::Result<int> perform_operation(RestClient& client, std::string_view operation, const CommandValues& values,
                                    bool json, const Console& console) {
  OperationCall call(operation);
  for (const auto& [parameter, value] : values.parameters) call.set(parameter, value);
  for (const auto& field : values.fields) TRY_VOID(set_field(call.body(), *field));
  const bool takes_key = api::find_parameter(call.operation(), key_header) != nullptr;
  TRY(const std::string body,
      takes_key ? fetch_once(client, std::move(call), values.key, console) : client.fetch(call));
  if (body.empty()) return success;
  json::Document document;
  json::FieldErrors errors;
  if (!document.parse(body, errors) || !document.root().is_object())
    return base::fail(base::ErrorCode::malformed, "the response is not from a Postino server. Is --url right?");
  if (json)
    console.print_foreign(body);
  else
    console.out << object_text(document.root());
  if (!json && is_empty_list(document.root())) console.errors << none_found;
  return status_of(document.root());
}

}  // namespace

void add_key_option(ClientCommand& command, std::string& key) {
  command.add_option(
      key_header, key,
      {.value_name = "KEY",
       .help = "idempotency key: a repeated call with the same key is not executed again; a new one by default"});
}

base::Result<std::string> fetch_once(RestClient& client, OperationCall call, const std::string& given,
                                     const Console& console) {
  base::SystemRandom random;
  const std::string key = given.empty() ? base::make_uuid(random) : given;
  auto response = client.send_with_key(std::move(call), key);
  if (!response) {
    if (response.error().code == base::ErrorCode::io)
      response.error().message += ".\nIt is unknown whether it was done. Repeat the command with --idempotency-key " +
                                  printable(key) + ": it will not be done twice";
    return base::propagate(std::move(response).error());
  }
  // Under a key of our own it is this command that has asked twice.
  if (!given.empty() && response->header("Idempotent-Replayed") == "true")
    console.errors << "This was asked for before under this idempotency key, and was not done again.\n";
  if (response->status >= 200 && response->status < 300) return std::move(response->body);
  return base::propagate(client.describe(*response));
}

void add_operation_command(CommandLine& line, CLI::App& parent, const OperationCommand& command) {
  const api::Operation& operation = operation_named(command.operation);
  ClientCommand made(line, parent, std::string(command.name), command.operation);
  const auto values = std::make_shared<CommandValues>();
  for (const api::Parameter& parameter : operation.parameters) {
    if (parameter.place == api::ParameterPlace::header) continue;
    std::string& value = values->parameters[std::string(parameter.name)];
    if (parameter.place == api::ParameterPlace::path)
      made.add_argument(parameter.name, value);
    else
      made.add_option(parameter.name, value, {.value_name = value_name(parameter.schema)})
          ->required(parameter.required);
  }
  if (const api::Schema* const body = api::body_schema(operation))
    for (const api::Property& property : body->properties)
      add_fields(made, property, std::string(property.name), property.presence == api::Presence::required, *values);
  if (api::find_parameter(operation, key_header) != nullptr) add_key_option(made, values->key);
  made.run([values, id = operation.id, &shared = made.shared()](RestClient& client, const Console& console) -> int {
    if (const auto checked = check_values(*values); !checked) return report_error(console, checked.error(), misuse);
    const auto done = perform_operation(client, id, *values, shared.json, console);
    return done ? *done : report_error(console, done.error());
  });
}

}  // namespace postino::app
