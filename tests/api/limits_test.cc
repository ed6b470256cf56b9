// The limits that the OpenAPI document states are those that requests are held to: a value at a limit is taken, one
// beyond it is refused. Every limit in the schemas of requests must have a case here.
#include <regex>

#include "api/protocol/idempotency_headers.h"
#include "api/protocol/route.h"
#include "capacity/former_calculator.h"
#include "capacity/workload.h"
#include "idempotency/key.h"
#include "json/document.h"
#include "messages/request.h"
#include "outbox/outbox.h"
#include "stated_limits.h"

namespace postino::api {
namespace {

TEST(StatedLimits, OfAnEmailAreThoseOfTheCode) {
  const auto email = [](const std::string& more) {
    return R"({"from":"a@example.com","to":"b@example.com","subject":"s","body_text":"b",)" + more + "}";
  };
  const auto without = [](const std::string& name, const std::string& value) {
    std::string text = "{";
    const std::pair<std::string, std::string> usual[] = {
        {"from", "\"a@example.com\""}, {"to", "\"b@example.com\""}, {"subject", "\"s\""}, {"body_text", "\"b\""}};
    for (const auto& [each, content] : usual)
      if (each != name) text.append(in_quotes(each)).append(":").append(content).append(",");
    return text + in_quotes(name) + ":" + value + "}";
  };
  const std::string address = "\"b@example.com\"";
  LimitCases cases{
      {"from:string", {without("from", "$"), padded_address, shortest_address}},
      {"reply_to:string", {email(R"("reply_to":$)"), padded_address, shortest_address}},
      {"to:string", {without("to", "$"), padded_address, shortest_address}},
      {"to:array", {without("to", "$"), array_of(address)}},
      {"to[]:string", {without("to", "[$]"), padded_address, shortest_address}},
      {"subject:string", {without("subject", "$"), text()}},
      {"body_text:string", {without("body_text", "$"), text()}},
      {"body_html:string", {email(R"("body_html":$)"), text()}},
      {"attachments:array", {email(R"("attachments":$)"), array_of("\"a\"")}},
      {"attachments[]:string", {email(R"("attachments":[$])"), long_path}},
      {"attachments[].path:string", {email(R"("attachments":[{"path":$,"name":"n"}])"), long_path}},
      {"attachments[].name:string", {email(R"("attachments":[{"content_base64":"","name":$}])"), text()}},
      {"attachments[].content_type:string",
       {email(R"("attachments":[{"path":"p","content_type":$}])"), text("text/plain; x="), 15}},
      {"attachments[].content_base64:string", {email(R"("attachments":[{"name":"n","content_base64":$}])"), text()}},
      {"custom_headers:object", {email(R"("custom_headers":$)"), object}},
      {"custom_headers{}:string", {email(R"("custom_headers":{"X-A":$})"), words}},
      {"callback_url:string", {email(R"("callback_url":$)"), text("https://example.com/")}},
      {"tags:array", {email(R"("tags":$)"), array_of("\"a\"")}},
      {"tags[]:string", {email(R"("tags":[$])"), text()}},
      {"unsubscribe.url:string", {email(R"("unsubscribe":{"url":$})"), text("https://example.com/")}},
      {"unsubscribe.mailto:string", {email(R"("unsubscribe":{"mailto":$})"), padded_address, shortest_address}},
  };
  for (const std::string name : {"cc", "bcc"}) {
    cases[name + ":string"] = {email(in_quotes(name) + ":$"), padded_address, shortest_address};
    cases[name + "[]:string"] = {email(in_quotes(name) + ":[$]"), padded_address, shortest_address};
    cases[name + ":array"] = {email(in_quotes(name) + ":$"), array_of(address), 0,
                              false};  // with that of `to` too many
  }
  expect_limits("Payload", cases, [](const std::string& body) {
    json::FieldErrors errors;
    json::Document document;
    if (document.parse(body, errors)) outbox::read_payload(document.root(), "", base::TimePoint(), errors);
    return noted(errors);
  });
}

// What both kinds of requests to the message service have.
LimitCases common_cases(const std::string& more) {
  const auto request = [&](const std::string& members) {
    return R"({"idempotencyKey":"k","target":{"queueName":"q"},)" + members + more + "}";
  };
  const auto manager = [&](const std::string& members) {
    return request(R"("queueManager":{"endpoints":[{"host":"h"}],)" + members + "}");
  };
  return {
      {"idempotencyKey:string", {R"({"idempotencyKey":$,"target":{"queueName":"q"})" + more + "}", text()}},
      {"connection:string", {request(R"("connection":$)"), text()}},
      {"queueManager:string", {request(R"("queueManager":$)"), text()}},
      {"queueManager.name:string", {manager(R"("name":$)"), text()}},
      {"queueManager.channel:string", {manager(R"("channel":$)"), text()}},
      {"queueManager.virtualHost:string", {manager(R"("virtualHost":$)"), text()}},
      {"queueManager.cipherSuite:string", {manager(R"("useTls":true,"cipherSuite":$)"), text()}},
      {"queueManager.credentials.username:string", {manager(R"("credentials":{"username":$})"), text()}},
      {"queueManager.credentials.password:string", {manager(R"("credentials":{"username":"u","password":$})"), text()}},
      {"queueManager.endpoints:array", {request(R"("queueManager":{"endpoints":$})"), array_of(R"({"host":"h"})")}},
      {"queueManager.endpoints[].host:string", {request(R"("queueManager":{"endpoints":[{"host":$}]})"), text()}},
      {"queueManager.endpoints[].port:integer",
       {request(R"("queueManager":{"endpoints":[{"host":"h","port":$}]})"), number}},
      {"target.queueName:string", {R"({"idempotencyKey":"k","target":{"queueName":$})" + more + "}", text()}},
      {"target.replyToQueue:string",
       {R"({"idempotencyKey":"k","target":{"queueName":"q","replyToQueue":$})" + more + "}", text()}},
  };
}

TEST(StatedLimits, OfProducingAreThoseOfTheCode) {
  const auto message = [](const std::string& members) {
    return R"({"idempotencyKey":"k","target":{"queueName":"q"},"messages":[{"body":"x",)" + members + "}]}";
  };
  const auto settings = [](const std::string& members) {
    return R"({"idempotencyKey":"k","target":{"queueName":"q"},"messages":[{"body":"x"}],"settings":{)" + members +
           "}}";
  };
  LimitCases cases = common_cases(R"(,"messages":[{"body":"x"}])");
  cases.merge(LimitCases{
      {"messages:array",
       {R"({"idempotencyKey":"k","target":{"queueName":"q"},"messages":$})", array_of(R"({"body":"x"})")}},
      {"messages[].headers:object", {message(R"("headers":$)"), object_of_headers}},
      {"messages[].properties:object", {message(R"("properties":$)"), object}},
      {"messages[].correlationId:string", {message(R"("correlationId":$)"), text()}},
      {"messages[].contentType:string", {message(R"("contentType":$)"), text()}},
      {"settings.totalMessages:integer", {settings(R"("totalMessages":$)"), number}},
      {"settings.batchSize:integer", {settings(R"("batchSize":$)"), number}},
      {"settings.concurrency:integer", {settings(R"("concurrency":$)"), number}},
  });
  expect_limits("ProduceRequest", cases, [](const std::string& body) {
    json::FieldErrors errors;
    messages::read_produce(body, "", errors);
    return noted(errors);
  });
}

TEST(StatedLimits, OfConsumingAreThoseOfTheCode) {
  LimitCases cases = common_cases("");
  cases["settings.maxMessages:integer"] = {
      R"({"idempotencyKey":"k","target":{"queueName":"q"},"settings":{"maxMessages":$}})", number};
  expect_limits("ConsumeRequest", cases, [](const std::string& body) {
    json::FieldErrors errors;
    messages::read_consume(body, "", errors);
    return noted(errors);
  });
}

// What is wrong with a body that the function reads.
template <class Read>
std::string capacity_faults(const std::string& body, const Read& read) {
  json::FieldErrors errors;
  json::Document document;
  EXPECT_TRUE(document.parse(body, errors)) << body;
  read(document.root(), errors);
  return noted(errors);
}

TEST(StatedLimits, OfAWorkloadAreThoseOfTheCode) {
  LimitCases cases = {
      {"item_bytes:integer", {R"({"item_bytes":$})", number}},
      {"indexes:array", {R"({"item_bytes":1,"indexes":$})", array_of(R"({"projection":"ALL"})")}},
      {"indexes[].name:string", {R"({"item_bytes":1,"indexes":[{"projection":"ALL","name":$}]})", text()}},
      {"indexes[].entry_bytes:integer",
       {R"({"item_bytes":)" + std::to_string(capacity::WorkloadLimits::item_bytes) +
            R"(,"indexes":[{"projection":"KEYS_ONLY","entry_bytes":$}]})",
        number}},
  };
  for (const char* const field : {"strong_reads", "eventual_reads", "transactional_reads", "queries", "items_per_query",
                                  "writes", "transactional_writes", "deletes", "failed_writes", "expiries",
                                  "stream_reads", "items", "storage_gb", "hours_per_day", "utilisation_percent"})
    cases[std::string(field) + ":integer"] = {R"({"item_bytes":1,")" + std::string(field) + R"(":$})", number};
  for (const char* const field :
       {"items_percent", "changes_percent", "key_changes_percent", "queries", "entries_per_query"})
    cases["indexes[]." + std::string(field) + ":integer"] = {
        R"({"item_bytes":1,"indexes":[{"projection":"ALL",")" + std::string(field) + R"(":$}]})", number};
  expect_limits("CapacityWorkload", cases, [](const std::string& body) {
    return capacity_faults(
        body, [](json::Element root, json::FieldErrors& errors) { capacity::read_workload(root, errors); });
  });
}

TEST(StatedLimits, OfTheFormerCalculatorAreThoseOfTheCode) {
  const std::string sizes = R"("item_size_kb":1,"storage_gb":1)";
  const LimitCases cases = {
      {"reads_per_second:integer", {R"({"writes_per_second":1,)" + sizes + R"(,"reads_per_second":$})", number}},
      {"writes_per_second:integer", {R"({"reads_per_second":1,)" + sizes + R"(,"writes_per_second":$})", number}},
      {"hours_active_per_day:integer",
       {R"({"reads_per_second":1,"writes_per_second":1,)" + sizes + R"(,"hours_active_per_day":$})", number}},
  };
  expect_limits("FormerCapacityLoad", cases, [](const std::string& body) {
    return capacity_faults(
        body, [](json::Element root, json::FieldErrors& errors) { capacity::read_former_load(root, errors); });
  });
}

TEST(StatedLimits, OfTheIdempotencyKeyAreThoseOfTheCode) {
  const Parameter parameter = idempotency_key_parameter();
  const std::regex pattern{std::string(parameter.schema.pattern)};
  const std::string longest(idempotency::longest_key, 'k');
  std::string escaped;
  for (std::size_t i = 0; i < idempotency::longest_key; ++i) escaped += i % 2 == 0 ? R"(\")" : R"(\\)";
  const std::pair<std::string, bool> keys[] = {{"k", true},
                                               {longest, true},
                                               {longest + "k", false},
                                               {"a\"", true},
                                               {in_quotes("k"), true},
                                               {in_quotes(longest), true},
                                               {"\"k", false},
                                               {in_quotes(""), false},
                                               {in_quotes(longest + "k"), false},
                                               {"\"", false},
                                               {in_quotes(escaped), true},
                                               {in_quotes(escaped + "k"), false},
                                               {R"("a\b")", false},
                                               {R"("a"b")", false},
                                               {"k\xC3\xA9", false}};
  for (const auto& [key, is_taken] : keys) {
    http::Request request;
    request.headers.emplace_back(parameter.name, key);
    EXPECT_EQ(read_idempotency_headers(request).has_value(), is_taken) << key;
    EXPECT_EQ(std::regex_match(key, pattern), is_taken) << key;
  }
}

}  // namespace
}  // namespace postino::api
