#include "api/openapi.h"

#include <algorithm>

#include "api/protocol/schemas.h"
#include "base/text.h"
#include "json/writer.h"

namespace postino::api {

namespace {

constexpr int first_error = 400;

class DocumentWriter {
 public:
  DocumentWriter(const std::vector<Route>& routes, std::string& out) : routes_(routes), json_(out) {}

  void write() {
    json_.begin_object();
    json_.key("openapi").string("3.1.0");
    write_info();
    json_.key("servers").begin_array().begin_object().key("url").string("/").end_object().end_array();
    json_.key("security").raw(R"([{"bearer":[]},{"apiKey":[]}])");
    write_groups();
    write_paths();
    write_components();
    json_.end_object();
  }

 private:
  void write_info() {
    json_.key("info").begin_object();
    json_.key("title").string("Postino");
    json_.key("version").string(POSTINO_VERSION);
    json_.key("description")
        .string(
            "E-mails are submitted, stored durably, and sent; messages are put into queues and taken from them, once "
            "per key. Errors are application/problem+json, with a `code` for programs. Every response has an "
            "X-Request-Id, that of the request if it had one. Unknown parameters and fields are refused, and so are "
            "parameters with an empty value, except `cursor`. Limits of strings (`maxLength`) are in bytes of UTF-8.");
    json_.end_object();
  }

  void write_groups() {
    std::vector<std::string_view> groups;
    for (const Route& route : routes_)
      if (std::ranges::find(groups, route.operation.group) == groups.end()) groups.push_back(route.operation.group);
    json_.key("tags").begin_array();
    for (const std::string_view group : groups) json_.begin_object().key("name").string(group).end_object();
    json_.end_array();
  }

  void write_paths() {
    std::vector<std::string_view> paths;
    for (const Route& route : routes_)
      if (std::ranges::find(paths, route.operation.path) == paths.end()) paths.push_back(route.operation.path);
    json_.key("paths").begin_object();
    for (const std::string_view path : paths) {
      json_.key(path).begin_object();
      for (const Route& route : routes_)
        if (route.operation.path == path) write_operation(route.operation, route.operation.id);
      json_.end_object();
    }
    for (const Route& route : routes_) {
      if (route.operation.former_path.empty()) continue;
      json_.key(route.operation.former_path).begin_object();
      write_operation(route.operation, std::string(route.operation.id) + "ByFormerPath", true);
      json_.end_object();
    }
    json_.end_object();
  }

  void write_operation(const Operation& operation, std::string_view id, bool deprecated = false) {
    json_.key(base::lower_case(operation.method)).begin_object();
    json_.key("operationId").string(id);
    if (deprecated) json_.key("deprecated").boolean(true);
    json_.key("tags").begin_array().string(operation.group).end_array();
    json_.key("summary").string(operation.summary);
    std::string description(operation.description);
    if (operation.right != Right::none)
      description.append(description.empty() ? "" : "\n\n")
          .append("Roles: ")
          .append(roles_with(operation.right))
          .append(".");
    if (!description.empty()) json_.key("description").string(description);
    if (operation.right == Right::none) json_.key("security").begin_array().end_array();
    if (!operation.parameters.empty()) write_parameters(operation);
    if (!operation.body.contents.empty()) {
      json_.key("requestBody").begin_object();
      json_.key("required").boolean(operation.body.required);
      write_contents(operation.body.contents);
      json_.end_object();
    }
    write_answers(operation);
    json_.end_object();
  }

  // The description stands beside the schema, where OpenAPI has it.
  void write_parameters(const Operation& operation) {
    json_.key("parameters").begin_array();
    for (const Parameter& parameter : operation.parameters) {
      json_.begin_object();
      json_.key("name").string(parameter.name);
      json_.key("in").string(place_name(parameter.place));
      json_.key("required").boolean(parameter.required || parameter.place == ParameterPlace::path);
      json_.key("description").string(parameter.schema.description);
      Schema schema = parameter.schema;
      schema.description.clear();
      if (parameter.place == ParameterPlace::query && !parameter.may_be_empty && schema.type == "string" &&
          schema.choices.empty() && schema.format.empty())
        schema.least = std::max<std::int64_t>(schema.least.value_or(1), 1);
      json_.key("schema");
      write_schema(json_, schema);
      json_.end_object();
    }
    json_.end_array();
  }

  void write_answers(const Operation& operation) {
    json_.key("responses").begin_object();
    for (const AnswerDescription& answer : operation.answers) {
      json_.key(std::to_string(answer.status)).begin_object();
      json_.key("description").string(answer.description);
      json_.key("headers").raw(R"({"X-Request-Id":{"$ref":"#/components/headers/X-Request-Id"}})");
      std::vector<Content> contents = answer.contents;
      if (answer.status >= first_error) contents.push_back({problem_content_type, "Problem"});
      if (!contents.empty()) write_contents(contents);
      json_.end_object();
    }
    json_.end_object();
  }

  void write_contents(const std::vector<Content>& contents) {
    json_.key("content").begin_object();
    for (const Content& content : contents) {
      json_.key(content.type).begin_object();
      if (!content.schema.empty()) {
        json_.key("schema");
        write_schema(json_, {.reference = content.schema});
      }
      json_.end_object();
    }
    json_.end_object();
  }

  void write_components() {
    json_.key("components").begin_object();
    json_.key("securitySchemes")
        .raw(
            R"({"bearer":{"type":"http","scheme":"bearer","description":"The secret of an API key."},)"
            R"("apiKey":{"type":"apiKey","in":"header","name":"X-API-Key","description":"The same in another header."}})");
    json_.key("headers").raw(
        R"({"X-Request-Id":{"description":"Names the request in the log.","schema":{"type":"string"}}})");
    json_.key("schemas").begin_object();
    for (const NamedSchema& named : all_schemas()) {
      json_.key(named.name);
      write_schema(json_, named.schema);
    }
    json_.end_object();
    json_.end_object();
  }

  static std::string_view place_name(ParameterPlace place) {
    switch (place) {
      case ParameterPlace::path:
        return "path";
      case ParameterPlace::query:
        return "query";
      case ParameterPlace::header:
        return "header";
    }
    return "";
  }

  const std::vector<Route>& routes_;
  json::Writer json_;
};

}  // namespace

std::string openapi_document(const std::vector<Route>& routes) {
  std::string text;
  DocumentWriter(routes, text).write();
  return text;
}

}  // namespace postino::api
