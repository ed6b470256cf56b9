// The shapes of what is said about messages and queues.
#include "api/protocol/schemas.h"
#include "idempotency/key.h"
#include "messages/iso_duration.h"
#include "messages/request.h"

namespace postino::api {

namespace {

using messages::RequestLimits;
using enum Presence;

Schema bounded_text(std::size_t most, std::string description = "") {
  return {.type = "string", .description = std::move(description), .most = limit_of(most)};
}

// Without `least`, an empty one counts as missing.
Schema queue_name(std::string description, std::optional<std::int64_t> least = std::nullopt) {
  return {.type = "string",
          .description = std::move(description),
          .pattern = without_control_characters,
          .least = least,
          .most = limit_of(RequestLimits::queue_bytes)};
}

Property target_property(std::string reply_to_queue) {
  return {
      "target",
      {.type = "object",
       .description =
           "The name of a queue in the store has at most " + std::to_string(RequestLimits::stored_queue_bytes) +
           " bytes, and five more if it ends in .dead; that of a tenant's own queue so many less as the name of the "
           "tenant and a slash.",
       .properties = {{"queueName", queue_name("The queue.", 1), required},
                      {"replyToQueue", queue_name(std::move(reply_to_queue))}},
       .closed = true},
      required};
}

Schema duration_up_to(base::Milliseconds most, const std::string& description) {
  return {.reference = "Duration", .description = description + " At most " + messages::format_duration(most) + "."};
}

Schema integer_up_to(std::int64_t most, std::string description, std::string usual = "") {
  return {.type = "integer",
          .description = std::move(description),
          .least = 1,
          .most = most,
          .default_value = std::move(usual)};
}

Property key_property() {
  return {"idempotencyKey",
          {.type = "string",
           .description = "The same as the header Idempotency-Key; one of the two is required.",
           .pattern = of_printable_ascii,
           .least = 1,
           .most = limit_of(idempotency::longest_key)}};
}

Property connection_property() {
  return {"connection", bounded_text(RequestLimits::name_bytes,
                                     "A connection of the server's configuration; the default connection if absent.")};
}

Property queue_manager_property() {
  return {"queueManager",
          {.description = "A broker that the request itself describes, or the name of a connection.",
           .alternatives = {{.reference = "QueueManager"},
                            {.type = "string", .most = limit_of(RequestLimits::name_bytes)}}}};
}

Schema queue_manager() {
  const Schema endpoint{
      .type = "object",
      .properties = {{"host", {.type = "string", .least = 1, .most = limit_of(RequestLimits::host_bytes)}, required},
                     {"port",
                      {.type = "integer",
                       .description = "If absent, 5672, or 5671 with TLS.",
                       .least = 1,
                       .most = RequestLimits::port}}},
      .closed = true};
  const Schema credentials{.type = "object",
                           .properties = {{"username", bounded_text(RequestLimits::user_bytes), required},
                                          {"password", bounded_text(RequestLimits::password_bytes)}},
                           .closed = true};
  return {.type = "object",
          .description = "A broker that the request itself describes. The configuration says which hosts are allowed.",
          .properties = {{"name", bounded_text(RequestLimits::name_bytes)},
                         {"channel", bounded_text(RequestLimits::name_bytes)},
                         {"endpoints",
                          {.type = "array",
                           .description = "Tried in this order.",
                           .least = 1,
                           .most = limit_of(RequestLimits::endpoints),
                           .elements = {endpoint}},
                          required},
                         {"virtualHost", bounded_text(RequestLimits::name_bytes)},
                         {"credentials", credentials},
                         {"useTls", {.type = "boolean", .default_value = "false"}},
                         {"cipherSuite", bounded_text(RequestLimits::name_bytes, "Requires useTls.")}},
          .closed = true};
}

Schema connection_test() {
  return {.type = "object",
          .description = "At most one of the two; without both, the default connection is tested.",
          .properties = {connection_property(), queue_manager_property()},
          .closed = true};
}

Schema broker_identity() {
  const Schema text{.type = "string"};
  return {.type = "object",
          .properties = {{"endpoint", text, required},
                         {"product",
                          {.type = "string",
                           .description = "Name of the product; empty if the broker does not report it.",
                           .example = R"("RabbitMQ")"},
                          required},
                         {"version", text, required},
                         {"container", {.type = "string", .description = "Container id of the broker."}, required},
                         {"mechanism", {.type = "string", .example = R"("PLAIN")"}, required},
                         {"tls", {.type = "string", .description = "Version of TLS; empty without TLS."}, required},
                         {"elapsed", {.reference = "Duration"}, required}}};
}

// --- Produce and consume

std::vector<std::string> formats() { return {"TEXT", "JSON", "BINARY"}; }

Schema produced_message() {
  const auto most_properties = limit_of(RequestLimits::properties);
  const Schema scalar{.description = "A string, a number, true or false."};
  return {.type = "object",
          .properties = {{"body",
                          {.description = "A string: text, JSON as text, or base64, as the format says. Anything else "
                                          "is JSON. At most " +
                                          std::to_string(RequestLimits::body_bytes >> 20) + " MiB."},
                          required},
                         {"format",
                          {.type = "string",
                           .description = "What the body is: TEXT, JSON, or BINARY in base64.",
                           .choices = formats(),
                           .default_value = R"("TEXT")"}},
                         {"headers",
                          {.type = "object",
                           .description = "Headers that brokers evaluate, such as priority.",
                           .most = most_properties,
                           .elements = {scalar}}},
                         {"properties",
                          {.type = "object",
                           .description = "Properties that the application defines.",
                           .most = most_properties,
                           .elements = {scalar}}},
                         {"correlationId", bounded_text(RequestLimits::id_bytes)},
                         {"contentType", bounded_text(RequestLimits::id_bytes)}},
          .closed = true};
}

Schema produce_settings() {
  return {.type = "object",
          .properties =
              {{"totalMessages",
                integer_up_to(RequestLimits::total_messages, "Repeat the messages in turn until this many are sent.")},
               {"batchSize", integer_up_to(RequestLimits::batch_size, "Messages that may be unconfirmed at a time.")},
               {"concurrency",
                integer_up_to(RequestLimits::concurrency, "Connections to send on; with several the order is lost.")},
               {"deliveryDelay", duration_up_to(RequestLimits::delay, "How long the broker delays the messages.")},
               {"timeToLive",
                duration_up_to(RequestLimits::time_to_live, "Time after which the broker may drop the messages.")},
               {"persistent",
                {.type = "boolean",
                 .description = "The messages survive a restart of the broker.",
                 .default_value = "true"}}},
          .closed = true};
}

Schema produce_request() {
  return {.type = "object",
          .properties = {key_property(),
                         connection_property(),
                         queue_manager_property(),
                         target_property("The queue for answers."),
                         {"settings", produce_settings()},
                         {"messages",
                          {.type = "array",
                           .least = 1,
                           .most = limit_of(RequestLimits::templates),
                           .elements = {{.reference = "ProducedMessage"}}},
                          required}},
          .closed = true};
}

Schema consume_settings() {
  return {
      .type = "object",
      .properties = {{"maxMessages", integer_up_to(RequestLimits::max_messages, "Maximum number of messages.", "1")},
                     {"waitTimeout", duration_up_to(RequestLimits::wait, "How long to wait for messages.")},
                     {"autoAcknowledge",
                      {.type = "boolean",
                       .description = "False: the messages are released and stay in the queue.",
                       .default_value = "true"}}},
      .closed = true};
}

Schema consume_request() {
  return {.type = "object",
          .properties = {key_property(),
                         connection_property(),
                         queue_manager_property(),
                         target_property("Ignored: the target may be that of a produce request."),
                         {"settings", consume_settings()}},
          .closed = true};
}

Schema metadata() {
  const Schema text{.type = "string"};
  return {
      .type = "object",
      .properties = {
          {"connection", text, required},
          {"queueName", text, required},
          {"firstMessageId", text},
          {"lastMessageId", text},
          {"resumedFrom",
           {.type = "integer", .description = "Messages confirmed by earlier requests with this key.", .least = 0}},
          {"sentAgain",
           {.type = "integer",
            .description = "Messages that may be in the queue twice, with the same ids.",
            .least = 0}},
          {"acknowledged", {.type = "boolean"}},
          {"tooLarge",
           {.type = "integer", .description = "Messages left in the queue because they are too large.", .least = 0}}}};
}

Schema messages_answer() {
  const Schema count{.type = "integer", .least = 0};
  const Schema time{.type = "string", .format = "date-time"};
  return {.type = "object",
          .properties = {{"idempotencyKey", {.type = "string"}, required},
                         {"operationType", {.type = "string", .choices = {"PRODUCE", "CONSUME"}}, required},
                         {"requestedMessages", count, required},
                         {"processedMessages", count, required},
                         {"startedAt", time, required},
                         {"completedAt", time, required},
                         {"elapsed", {.reference = "Duration"}, required},
                         {"metadata", metadata(), required},
                         {"messages", {.type = "array", .elements = {{.reference = "ConsumedMessage"}}}}}};
}

Schema consumed_message() {
  const Schema text{.type = "string"};
  return {
      .type = "object",
      .properties = {
          {"messageId", {.type = "string", .nullable = true}, required},
          {"body", {.type = "string", .description = "Text, JSON as text, or base64, as the format says."}, required},
          {"format", {.type = "string", .choices = formats()}, required},
          {"properties", {.type = "object", .elements = {{}}}, required},
          {"headers", {.type = "object", .elements = {{}}}, required},
          {"correlationId", text},
          {"replyTo", text},
          {"contentType", text},
          {"createdAt", {.type = "string", .format = "date-time"}},
          {"fault",
           {.type = "string",
            .description = "Why the message could not be decoded; the body is as it was received."}}}};
}

Schema queue_depth() {
  return {.type = "object",
          .properties = {{"queueName", {.type = "string"}, required},
                         {"depth", {.type = "integer", .least = 0}, required}}};
}

}  // namespace

std::vector<NamedSchema> message_schemas() {
  return {
      {"QueueManager", queue_manager()},
      {"ConnectionTest", connection_test()},
      {"BrokerIdentity", broker_identity()},
      {"Duration", {.type = "string", .description = "ISO 8601.", .format = "duration", .example = R"("PT2.5S")"}},
      {"ProduceRequest", produce_request()},
      {"ProducedMessage", produced_message()},
      {"ConsumeRequest", consume_request()},
      {"MessagesAnswer", messages_answer()},
      {"ConsumedMessage", consumed_message()},
      {"QueueDepth", queue_depth()},
  };
}

}  // namespace postino::api
