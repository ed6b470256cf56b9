#include "messages/request_fields.h"

#include <algorithm>

#include "base/base64.h"
#include "messages/iso_duration.h"

namespace postino::messages {

namespace {

using broker::Format;
using broker::Message;
using broker::Scalar;
using broker::Scalars;
using json::Element;
using json::Fields;
using Need = json::Fields::Need;

std::string text_or_empty(Fields& fields, std::string_view name, std::size_t max_bytes) {
  return std::string(fields.text(name, Need::optional, max_bytes).value_or(""));
}

std::vector<broker::Endpoint> read_endpoints(Fields& fields, bool use_tls) {
  constexpr std::uint16_t plain_port = 5672, tls_port = 5671;
  std::vector<broker::Endpoint> endpoints;
  const auto list = fields.list("endpoints", Need::required, RequestLimits::endpoints);
  if (list && list->empty()) fields.refuse("endpoints", "must have at least one element");
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    Fields each((*list)[i], json::element_path(fields.path_of("endpoints"), i), fields.errors());
    broker::Endpoint endpoint;
    const auto host = each.text("host", Need::required, RequestLimits::host_bytes);
    if (host && host->empty()) each.refuse("host", "must be a name or an IP address");
    endpoint.host = std::string(host.value_or(""));
    const auto port = each.integer("port", Need::optional, 1, RequestLimits::port);
    endpoint.port = port ? static_cast<std::uint16_t>(*port) : use_tls ? tls_port : plain_port;
    each.refuse_others();
    endpoints.push_back(std::move(endpoint));
  }
  return endpoints;
}

QueueManager read_queue_manager(Element element, Fields& parent) {
  Fields fields(element, parent.path_of("queueManager"), parent.errors());
  QueueManager manager;
  manager.name = text_or_empty(fields, "name", RequestLimits::name_bytes);
  manager.channel = text_or_empty(fields, "channel", RequestLimits::name_bytes);
  manager.use_tls = fields.boolean("useTls", Need::optional).value_or(false);
  manager.endpoints = read_endpoints(fields, manager.use_tls);
  manager.virtual_host = text_or_empty(fields, "virtualHost", RequestLimits::name_bytes);
  manager.cipher_suite = text_or_empty(fields, "cipherSuite", RequestLimits::name_bytes);
  if (!manager.cipher_suite.empty() && !manager.use_tls) fields.refuse("cipherSuite", "requires useTls");
  if (const auto credentials = fields.any("credentials", Need::optional)) {
    Fields inner(*credentials, fields.path_of("credentials"), fields.errors());
    manager.user = std::string(inner.text("username", Need::required, RequestLimits::user_bytes).value_or(""));
    manager.password = text_or_empty(inner, "password", RequestLimits::password_bytes);
    inner.refuse_others();
  }
  fields.refuse_others();
  return manager;
}

std::optional<Scalar> scalar_of(Element element) {
  if (const auto text = element.text()) return Scalar(std::string(*text));
  if (const auto flag = element.boolean()) return Scalar(*flag);
  if (const auto integer = element.integer()) return Scalar(*integer);
  if (const auto number = element.number()) return Scalar(*number);
  return std::nullopt;
}

Scalars read_scalars(Fields& fields, std::string_view name) {
  Scalars scalars;
  const auto members = fields.map(name, Need::optional, RequestLimits::properties);
  if (!members) return scalars;
  for (const auto& [key, value] : *members) {
    if (auto scalar = scalar_of(value))
      scalars.insert_or_assign(std::string(key), *std::move(scalar));
    else
      fields.refuse(std::string(name).append(".").append(key), "must be a string, a number, true or false");
  }
  return scalars;
}

std::optional<Format> read_format(Fields& fields) {
  const auto text = fields.text("format", Need::optional);
  if (!text) return std::nullopt;
  if (*text == "TEXT") return Format::text;
  if (*text == "JSON") return Format::json;
  if (*text == "BINARY") return Format::binary;
  fields.refuse("format", "must be TEXT, JSON or BINARY");
  return std::nullopt;
}

// A string holds the text, JSON as a text, or bytes in base64; anything else is JSON as it stands.
void read_body(Fields& fields, Message& message) {
  const std::optional<Format> format = read_format(fields);
  const auto body = fields.any("body", Need::required);
  if (!body) return;
  const auto text = body->text();
  if (!text) {
    message.format = Format::json;
    message.body = body->compact();
    if (format.value_or(Format::json) != Format::json)
      fields.refuse("body", "must be a string unless its format is JSON");
    return;
  }
  message.format = format.value_or(Format::text);
  message.body = std::string(*text);
  if (message.format == Format::json) {
    json::FieldErrors faults;
    if (json::Document document; !document.parse(*text, faults))
      fields.refuse("body", "must be valid JSON, because its format is JSON");
  } else if (message.format == Format::binary) {
    auto bytes = base::from_base64(*text);
    if (!bytes) return fields.refuse("body", "must be base64, because its format is BINARY");
    message.body = *std::move(bytes);
  }
}

Message read_message(Element element, std::string path, json::FieldErrors& errors) {
  Fields fields(element, std::move(path), errors);
  Message message;
  read_body(fields, message);
  if (message.body.size() > RequestLimits::body_bytes)
    fields.refuse("body", "must not be longer than " + std::to_string(RequestLimits::body_bytes) + " bytes");
  message.headers = read_scalars(fields, "headers");
  message.properties = read_scalars(fields, "properties");
  message.correlation_id = text_or_empty(fields, "correlationId", RequestLimits::id_bytes);
  message.content_type = text_or_empty(fields, "contentType", RequestLimits::id_bytes);
  fields.refuse_others();
  return message;
}

}  // namespace

Place read_place(Fields& fields) {
  Place place;
  place.connection = text_or_empty(fields, "connection", RequestLimits::name_bytes);
  const auto manager = fields.any("queueManager", Need::optional);
  if (!manager || manager->text() == "") return place;
  if (!place.connection.empty()) fields.refuse("queueManager", "must not be given together with connection");
  if (const auto name = manager->text()) {
    place.connection = std::string(*name);
    if (name->size() > RequestLimits::name_bytes)
      fields.refuse("queueManager", "must be an object, or the name of a connection, of at most " +
                                        std::to_string(RequestLimits::name_bytes) + " bytes");
  } else {
    place.queue_manager = read_queue_manager(*manager, fields);
  }
  return place;
}

std::vector<Message> read_messages(Fields& fields) {
  std::vector<Message> messages;
  const auto list = fields.list("messages", Need::required, RequestLimits::templates);
  if (list && list->empty()) fields.refuse("messages", "must have at least one element");
  for (std::size_t i = 0; list && i < list->size(); ++i)
    messages.push_back(read_message((*list)[i], json::element_path(fields.path_of("messages"), i), fields.errors()));
  return messages;
}

std::optional<base::Milliseconds> read_duration(Fields& fields, std::string_view name, base::Milliseconds least,
                                                base::Milliseconds most) {
  const auto text = fields.text(name, Need::optional);
  if (!text) return std::nullopt;
  const auto duration = parse_duration(*text);
  if (!duration) {
    fields.refuse(name, duration.error().message);
    return std::nullopt;
  }
  if (*duration < least || *duration > most) {
    fields.refuse(name, "must be from " + format_duration(least) + " to " + format_duration(most));
    return std::nullopt;
  }
  return *duration;
}

}  // namespace postino::messages
