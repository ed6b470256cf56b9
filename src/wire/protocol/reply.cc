#include "wire/protocol/reply.h"

#include "wire/protocol/json_writer.h"

namespace postino::wire {

namespace {

using store::ErrorType;

constexpr std::string_view service_namespace = "com.amazon.coral.service#";
constexpr std::string_view model_namespace = "com.amazonaws.dynamodb.v20120810#";

std::string_view namespace_of(ErrorType type) {
  if (type == ErrorType::validation) return "com.amazon.coral.validate#";
  if (type == ErrorType::throttling) return "com.amazon.coral.availability#";
  if (type == ErrorType::access_denied) return service_namespace;
  return model_namespace;
}

int status_of(ErrorType type) {
  if (type == ErrorType::internal_server_error) return 500;
  return type == ErrorType::service_unavailable ? 503 : 400;
}

// The protocol is not of one mind about the case of this member.
std::string_view message_key(ErrorType type) {
  const bool capital = type == ErrorType::transaction_canceled || type == ErrorType::idempotent_parameter_mismatch ||
                       type == ErrorType::transaction_in_progress || type == ErrorType::access_denied;
  return capital ? "Message" : "message";
}

JsonWriter& begin_error(JsonWriter& json, std::string_view type_namespace, std::string_view type) {
  return json.begin_object().key("__type").string(std::string(type_namespace).append(type));
}

void write_reasons(JsonWriter& json, const std::vector<store::CancellationReason>& reasons) {
  json.key("CancellationReasons").begin_array();
  for (const store::CancellationReason& reason : reasons) {
    json.begin_object().key("Code").string(reason.code);
    if (reason.item) json.key("Item").item(*reason.item);
    if (!reason.message.empty()) json.key("Message").string(reason.message);
    json.end_object();
  }
  json.end_array();
}

void write_throttling(JsonWriter& json, ErrorType type, const std::vector<store::ThrottlingReason>& reasons) {
  json.key(type == ErrorType::throttling ? "throttlingReasons" : "ThrottlingReasons").begin_array();
  for (const store::ThrottlingReason& reason : reasons)
    json.begin_object().key("reason").string(reason.reason).key("resource").string(reason.resource).end_object();
  json.end_array();
}

Reply service_failure(std::string_view type, std::string_view key, std::string_view message) {
  Reply reply{400, {}, std::string(type)};
  JsonWriter json(reply.body);
  begin_error(json, service_namespace, type);
  if (!message.empty()) json.key(key).string(message);
  json.end_object();
  return reply;
}

}  // namespace

Reply failure(const store::Error& error) {
  Reply reply{status_of(error.type), {}, std::string(store::error_name(error.type))};
  JsonWriter json(reply.body);
  begin_error(json, namespace_of(error.type), reply.error);
  if (error.details && error.details->item) json.key("Item").item(*error.details->item);
  if (error.details && !error.details->reasons.empty()) write_reasons(json, error.details->reasons);
  if (error.details && !error.details->throttling_reasons.empty())
    write_throttling(json, error.type, error.details->throttling_reasons);
  json.key(message_key(error.type)).string(error.message).end_object();
  return reply;
}

Reply serialization_failure(std::string_view message) {
  return service_failure("SerializationException", "Message", message);
}

Reply unknown_operation() { return service_failure("UnknownOperationException", "message", ""); }

Reply authentication_failure(std::string_view type, std::string_view message) {
  return service_failure(type, "message", message);
}

}  // namespace postino::wire
