// Messages to and from queues, produced and consumed once per key.
#include "api/protocol/idempotency_headers.h"
#include "api/protocol/schemas.h"
#include "api/routes/route_groups.h"
#include "json/writer.h"
#include "messages/iso_duration.h"

namespace postino::api {

namespace {

using messages::CallOptions;
using messages::MessageService;

template <class T>
base::Result<T, Problem> answered_by_messages(messages::Result<T> answer) {
  if (!answer) return base::propagate(problem_of(std::move(answer).error()));
  return *std::move(answer);
}

tl::unexpected<Problem> refuse_body(std::string_view body, const json::FieldErrors& errors) {
  json::Document document;
  json::FieldErrors faults;
  return refuse_fields(document.parse(body, faults) ? problems::invalid_request : problems::malformed_json, errors);
}

// Reads a request with `read`, which is given the key of the header too, and has it carried out.
template <auto read, auto execute>
Outcome carry_out(Call& call) {
  TRY(const IdempotencyHeaders headers, read_loose_idempotency_headers(call.request));
  json::FieldErrors errors;
  const auto request = read(call.request.body, headers.key, errors);
  if (!request) return refuse_body(call.request.body, errors);
  const CallOptions options{call.caller.tenant, headers.life, call.caller.tenant};
  TRY(messages::Reply answer, answered_by_messages((call.services.messages.*execute)(*request, options)));
  Reply reply = json_reply(std::move(answer.body));
  reply.memory = std::move(answer.memory);
  return answer.replayed ? replayed(std::move(reply)) : reply;
}

std::optional<messages::BrokerTarget> target_in_body(const Call& call) {
  const auto place = messages::peek_place(call.request.body);
  return place ? call.services.messages.target(*place) : std::nullopt;
}

messages::Place place_in_query(const Call& call) {
  const std::string* const connection = call.query.find("connection");
  return {connection == nullptr ? "" : *connection, std::nullopt};
}

std::optional<messages::BrokerTarget> target_in_query(const Call& call) {
  return call.services.messages.target(place_in_query(call));
}

Outcome show_depth(Call& call) {
  const std::string& queue = call.path_parameter("queue");
  TRY(const broker::Depth depth,
      answered_by_messages(call.services.messages.depth(place_in_query(call), queue, call.caller.tenant)));
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("queueName").string(queue);
  json.key("depth").integer(static_cast<std::int64_t>(depth.ready));
  json.end_object();
  return json_reply(std::move(text));
}

Outcome test_connection(Call& call) {
  json::FieldErrors errors;
  const auto place = messages::read_place(call.request.body, errors);
  if (!place) return refuse_body(call.request.body, errors);
  TRY(const broker::Identity identity, answered_by_messages(call.services.messages.test(*place, call.caller.tenant)));
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("endpoint").string(identity.endpoint);
  json.key("product").string(identity.product);
  json.key("version").string(identity.version);
  json.key("container").string(identity.container);
  json.key("mechanism").string(identity.mechanism);
  json.key("tls").string(identity.tls);
  json.key("elapsed").string(messages::format_duration(identity.elapsed));
  json.end_object();
  return json_reply(std::move(text));
}

constexpr std::string_view unreachable =
    "The broker failed to execute the request (BROKER_FAILED), or none of its endpoints could be reached "
    "(BROKER_UNREACHABLE): then `endpoints` lists each endpoint with the reason.";
constexpr std::string_view timed_out = "The broker did not answer in time.";
constexpr std::string_view no_such_queue = "No queue has this name.";

Operation keyed_operation(std::string_view id, std::string_view path, std::string_view summary,
                          std::string_view description, std::string_view body) {
  return {
      .id = id,
      .method = "POST",
      .path = path,
      .right = Right::send,
      .group = "Messages",
      .summary = summary,
      .description = description,
      .parameters = {idempotency_key_parameter(), idempotency_expiry_parameter()},
      .body = {{{json_content_type, body}}, true},
      .answers = {
          {200, "Executed, now or by an earlier request with the same key.", {{json_content_type, "MessagesAnswer"}}},
          {404, no_such_queue},
          {409, key_conflict},
          {422, "The idempotency key was used for another request."},
          {501, "The broker does not support this."},
          {502, unreachable},
          {504, timed_out}}};
}

}  // namespace

std::vector<Route> message_routes() {
  return {
      {.operation = keyed_operation(
           "produceMessages", "/messages/produce", "Put messages into a queue",
           "The response comes when the broker has confirmed all messages. The messages are repeated in turn until "
           "`totalMessages` are sent; each gets an id made of the key and its position. A request that is repeated "
           "after a failure continues after the confirmed messages. Keys and queues belong to the tenant.",
           "ProduceRequest"),
       .handle = carry_out<messages::read_produce, &MessageService::produce>,
       .own_keys = true,
       .waits = Waits::for_others,
       .target = target_in_body},
      {.operation = keyed_operation(
           "consumeMessages", "/messages/consume", "Take messages from a queue",
           "The response is stored before the messages are acknowledged, so a repeated request gets the same messages. "
           "Without `autoAcknowledge`, the messages are released and stay in the queue.",
           "ConsumeRequest"),
       .handle = carry_out<messages::read_consume, &MessageService::consume>,
       .own_keys = true,
       .waits = Waits::for_messages,
       .target = target_in_body},
      {.operation = {.id = "getQueueDepth",
                     .method = "GET",
                     .path = "/messages/queues/{queue}/depth",
                     .right = Right::read,
                     .group = "Messages",
                     .summary = "Count the messages that wait in a queue",
                     .description = "Messages that a receiver holds are not counted.",
                     .parameters = {{"queue", ParameterPlace::path,
                                     *find_property(schema_named("ConsumeRequest"), "target.queueName")},
                                    {"connection", ParameterPlace::query,
                                     *find_property(schema_named("ConsumeRequest"), "connection")}},
                     .answers = {{200, "The number of messages.", {{json_content_type, "QueueDepth"}}},
                                 {404, no_such_queue},
                                 {501, "The broker does not report the number of messages."},
                                 {502, unreachable},
                                 {504, timed_out}}},
       .handle = show_depth,
       .waits = Waits::for_others,
       .target = target_in_query},
      {.operation = {.id = "testConnection",
                     .method = "POST",
                     .path = "/messages/connections/test",
                     .right = Right::operate,
                     .group = "Messages",
                     .summary = "Test the connection to a broker",
                     .body = {{{json_content_type, "ConnectionTest"}}, true},
                     .answers = {{200, "The broker accepted the connection.", {{json_content_type, "BrokerIdentity"}}},
                                 {502, unreachable},
                                 {504, timed_out}}},
       .handle = test_connection,
       .waits = Waits::for_others,
       .target = target_in_body,
       .audited = Audited::never},
  };
}

}  // namespace postino::api
