// A REST API over a real outbox on the embedded store; only the pipelines are missing, so that e-mails stay as they
// were accepted.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/service.h"
#include "engine/engine_testing.h"
#include "json/pointer_testing.h"
#include "messages/service.h"
#include "messages/store_queue.h"
#include "outbox/outbox.h"
#include "outbox/store_ledger/store_ledger.h"
#include "outbox/store_ledger/store_suppressions.h"
#include "outbox/store_ledger/store_tables.h"

namespace postino::api {

using json::Element;

// A response, with its body as JSON when it is.
struct Received {
  explicit Received(http::Response from) : response(std::move(from)) {
    json::FieldErrors errors;
    EXPECT_TRUE(!response.content_type.ends_with("json") || body.parse(response.body, errors)) << response.body;
  }

  int status() const { return response.status; }
  std::string header(const std::string& name) const {
    for (const auto& [key, value] : response.headers)
      if (key == name) return value;
    return "";
  }
  Element at(std::string_view pointer) const { return json::find_at(body.root(), pointer).value(); }
  bool has(std::string_view pointer) const { return json::find_at(body.root(), pointer).has_value(); }
  std::string text(std::string_view pointer) const { return std::string(at(pointer).text().value()); }
  std::int64_t number(std::string_view pointer) const { return at(pointer).integer().value(); }
  std::size_t size(std::string_view pointer) const { return at(pointer).elements().size(); }
  std::string code() const { return text("/code"); }

  http::Response response;
  json::Document body;
};

using Headers = std::vector<std::pair<std::string, std::string>>;

// One whose connection breaks, before it does what it is asked to or after.
class ForgetfulLedger final : public outbox::StoreLedger {
 public:
  using StoreLedger::StoreLedger;

  std::vector<outbox::MoveOutcome> move(std::vector<outbox::Change> changes) override {
    if (const auto action = std::exchange(before_move, nullptr)) action();
    std::vector<outbox::MoveOutcome> outcomes(changes.size());
    if (!fails) outcomes = StoreLedger::move(std::move(changes));
    if (fails || forgets)
      for (outbox::MoveOutcome& outcome : outcomes) {
        outcome.status = outbox::MoveStatus::failed;
        outcome.in_doubt = forgets;
      }
    return outcomes;
  }
  base::Result<void> record_bounce(const std::string& id, const outbox::Bounce& bounce) override {
    return forgotten(StoreLedger::record_bounce(id, bounce));
  }
  base::Result<std::vector<std::string>> amend(const std::vector<outbox::Change>& changes) override {
    is_blind_ = stays_away.load();
    return forgotten(StoreLedger::amend(changes));
  }
  base::Result<std::optional<outbox::Email>> find(const std::string& id) override {
    if (is_blind_ && stays_away) return base::fail(base::ErrorCode::io, "no connection");
    return StoreLedger::find(id);
  }

  std::atomic<bool> fails = false;
  std::atomic<bool> forgets = false;
  std::atomic<bool> stays_away = false;  // after a change within a state
  std::function<void()> before_move;     // the next one

 private:
  template <class T>
  base::Result<T> forgotten(base::Result<T> done) {
    EXPECT_TRUE(done);
    if (forgets) return base::fail(base::ErrorCode::io, "the connection broke");
    return done;
  }

  std::atomic<bool> is_blind_ = false;
};

// The same of the list of suppressed addresses.
class ForgetfulSuppressions final : public outbox::StoreSuppressions {
 public:
  using StoreSuppressions::StoreSuppressions;

  base::Result<void> add(const std::string& tenant, const outbox::Suppression& suppression) override {
    if (fails) return base::fail(base::ErrorCode::exhausted, "no connection");
    const auto done = StoreSuppressions::add(tenant, suppression);
    return forgets ? base::fail(base::ErrorCode::io, "the connection broke") : done;
  }
  base::Result<bool> remove(const std::string& tenant, const std::string& address) override {
    const auto done = StoreSuppressions::remove(tenant, address);
    return forgets ? base::fail(base::ErrorCode::io, "the connection broke") : done;
  }

  std::atomic<bool> fails = false;
  std::atomic<bool> forgets = false;
};

class Rest : public engine::EngineTest {
 protected:
  Rest()
      : retry_(random_, [](base::Milliseconds) {}),
        ledger_(store(), tables_, policy_, clock(), random_, retry_),
        suppressions_(store(), tables_, retry_),
        mailbox_(store(), tables_.mailbox(), ledger_.spool(), retry_) {
    EXPECT_TRUE(outbox::prepare_tables(store(), tables_));
    messages::ConnectionsOptions connections;
    connections.allowed_hosts = messages::loopback_hosts();
    auto queues =
        std::make_shared<messages::StoreQueue>(store(), clock(), random_, retry_, messages::StoreQueueOptions{});
    connections_ = messages::Connections::create(std::move(connections), std::move(queues)).value();
    messages_ = std::make_unique<messages::MessageService>(store(), *connections_, clock(), random_, retry_,
                                                           messages::ServiceOptions{});
    EXPECT_TRUE(messages_->prepare());
    signal_.listen([this](outbox::Pipeline pipeline) { wake_(pipeline); });
    outbox::OutboxOptions options;
    options.memory = &message_memory_;
    outbox_ = std::make_unique<outbox::Outbox>(ledger_, suppressions_, policy_, clock(), random_, signal_, options);
    start({});
  }
  ~Rest() override { EXPECT_EQ(api_->statistics().undocumented(), 0U) << "a status that the route does not promise"; }

  void start(ApiOptions options, bool sandbox = true) {
    options.threads = options.threads == ApiOptions().threads ? 2 : options.threads;
    api_.reset();
    api_ = std::make_unique<Api>(*outbox_, sandbox ? &mailbox_ : nullptr, *messages_, guard_, clock(), random_,
                                 std::move(options));
  }
  void start_with_keys(std::initializer_list<std::string_view> keys) {
    ApiOptions options;
    for (const std::string_view key : keys) options.keys.push_back(parse_api_key(key).value());
    start(std::move(options));
  }

  // The answer comes later, on another thread.
  std::future<http::Response> begin(const std::string& method, const std::string& target, const std::string& body = "",
                                    Headers headers = {}) {
    struct Sent {
      std::string method, target, body;
      Headers headers;
      http::Request request;
      std::promise<http::Response> response;
    };
    auto sent = std::make_shared<Sent>(Sent{method, target, body, std::move(headers), {}, {}});
    sent->request.method = sent->method;
    sent->request.target = sent->target;
    sent->request.body = sent->body;
    for (const auto& [name, value] : sent->headers) sent->request.headers.emplace_back(name, value);
    auto response = sent->response.get_future();
    api_->handle(sent->request, [sent](http::Response answer) { sent->response.set_value(std::move(answer)); });
    return response;
  }
  Received call(const std::string& method, const std::string& target, const std::string& body = "",
                Headers headers = {}) {
    if (!body.empty()) headers.emplace_back("Content-Type", "application/json");
    return Received(begin(method, target, body, std::move(headers)).get());
  }
  Received get(const std::string& target, Headers headers = {}) { return call("GET", target, "", std::move(headers)); }

  static std::string payload(const std::string& more = "") {
    return R"({"from":"shop@example.com","to":"ann@example.com","subject":"Hello","body_text":"Hello.")" + more + "}";
  }
  static std::string batch(const std::string& payloads) { return R"({"data":[)" + payloads + "]}"; }
  std::string accept_one(const std::string& more = "", Headers headers = {}) {
    const Received answer = call("POST", "/emails", batch(payload(more)), std::move(headers));
    EXPECT_EQ(answer.status(), 201) << answer.response.body;
    return answer.text("/results/0/id");
  }

  // As if the e-mail had been found invalid, and its caller had not wanted to hear of it.
  void give_up_callback(const std::string& id) {
    outbox::Email email = ledger_.find(id).value().value();
    auto change = decide(email, outbox::event::PayloadRejected{}, policy_, clock().now());
    ASSERT_TRUE(change) << change.error().message;
    change->after.due_at.reset();
    change->after.callback_dead = true;
    std::vector<outbox::Change> changes;
    changes.push_back(*std::move(change));
    const auto outcomes = ledger_.move(std::move(changes));
    ASSERT_EQ(outcomes.front().status, outbox::MoveStatus::done) << outcomes.front().error;
  }

  base::SeededRandom random_{1};
  const outbox::StoreTables tables_;
  store::Retry retry_;
  const outbox::Policy policy_;
  ForgetfulLedger ledger_;
  ForgetfulSuppressions suppressions_;
  outbox::SandboxMailbox mailbox_;
  outbox::WorkSignal signal_;
  const std::shared_ptr<base::MemoryBudget> message_budget_ = std::make_shared<base::MemoryBudget>(100 << 20);
  outbox::MessageMemory message_memory_{message_budget_};
  std::function<void(outbox::Pipeline)> wake_ = [](outbox::Pipeline) {};
  std::unique_ptr<outbox::Outbox> outbox_;
  std::unique_ptr<messages::Connections> connections_;
  std::unique_ptr<messages::MessageService> messages_;
  idempotency::Guard guard_{store(), clock(), random_, {}};  // of all keys: those of messages are in the same table
  std::unique_ptr<Api> api_;
};

}  // namespace postino::api
