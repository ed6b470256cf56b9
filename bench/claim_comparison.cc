// Claims on the ledger in this process, without waiting for the disk: its delay would hide what is compared.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <string>
#include <thread>

#include "base/check.h"
#include "engine/engine.h"
#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/store_ledger.h"
#include "outbox/store_ledger/store_tables.h"
#include "outbox_race.h"

namespace postino::bench {

namespace {

using Clock = std::chrono::steady_clock;
using outbox::Email;
using outbox::State;

constexpr int batch = 25;
constexpr int batches_per_turn = 20;

void reach(Email& email, State state) {
  email.state = state;
  ++email.version;
  ++email.reached[static_cast<std::size_t>(state)];
}

// A ledger with e-mails that are done.
class FilledLedger {
 public:
  FilledLedger(std::filesystem::path directory, std::uint64_t finished) : directory_(std::move(directory)) {
    open();
    fill(finished);
    // What was in memory is in files afterwards, as it is after any restart.
    open();
  }

  // Makes e-mails that are ready, then takes the time it needs to claim them, batch by batch, and to say they are sent.
  Work claim_and_settle() {
    constexpr int count = batch * batches_per_turn;
    for (int i = 0; i < batches_per_turn; ++i) write_ready();
    const auto begin = Clock::now();
    for (int claimed = 0; claimed < count;) claimed += claim_once();
    return {batches_per_turn, Clock::now() - begin};
  }

 private:
  void open() {
    ledger_.reset();
    engine_.reset();
    engine::Options options;
    options.directory = directory_;
    options.durability = engine::Durability::relaxed;
    auto opened = engine::Engine::open(std::move(options));
    CHECK(opened);
    engine_ = std::move(*opened);
    CHECK(outbox::prepare_tables(*engine_, tables_));
    ledger_ = std::make_unique<outbox::StoreLedger>(*engine_, tables_, policy_, clock_, random_, retry_);
  }

  Email new_email(base::TimePoint created) {
    Email email;
    email.id = base::make_uuid(random_);
    email.acceptance_token = base::make_uuid(random_);
    email.version = 0;
    email.created_at = created;
    email.updated_at = created;
    email.payload_path = "2026/11/" + email.id + ".json";
    email.message_path = "2026/11/" + email.id + ".eml";
    email.sender = "ann@peer.example";
    email.recipients = {{"bob@example.org", outbox::RecipientState::pending, ""}};
    return email;
  }

  // The line of the state that it has reached.
  static outbox::NewLine line_of(const Email& email) {
    return {{std::string(name_of(email.state)), email.updated_at, "", email.version},
            email.reached[outbox::index_of(email.state)]};
  }

  // Its _META record after these states, and the line of the last one. The lines before are left out: they are as far
  // from a claim's way as that one, and writing them would take minutes.
  template <std::size_t count>
  void add_items(Email email, const std::array<State, count>& states, std::vector<store::BatchWrite>& writes) {
    const base::TimePoint expires = email.created_at + std::chrono::hours(24 * 30);
    for (const State state : states) reach(email, state);
    writes.emplace_back(store::BatchPut{outbox::line_item(email.id, line_of(email), expires)});
    writes.emplace_back(store::BatchPut{outbox::meta_item(email, expires, outbox::least_shards)});
  }

  void write(std::vector<store::BatchWrite>& writes) {
    for (std::size_t next = 0; next < writes.size();) {
      const std::size_t end = std::min(next + store::max_batch_write_requests, writes.size());
      store::BatchWriteItemRequest request;
      request.tables.push_back({tables_.emails, {}});
      for (; next < end; ++next) request.tables[0].writes.push_back(std::move(writes[next]));
      CHECK(engine_->batch_write_item(request));
    }
    writes.clear();
  }

  void fill(std::uint64_t finished) {
    using enum State;
    constexpr std::uint64_t share = 100;
    std::atomic<std::uint64_t> next = 0;
    std::vector<std::jthread> writers;
    for (int i = 0; i < 4; ++i)
      writers.emplace_back([&] {
        std::vector<store::BatchWrite> writes;
        while (next.fetch_add(share) < finished) {
          for (std::uint64_t n = 0; n < share; ++n) {
            Email email = new_email(clock_.now() - std::chrono::hours(1));
            email.attempts = 1;
            email.settled_at = email.updated_at;
            email.recipients[0] = {"bob@example.org", outbox::RecipientState::delivered, "250 2.0.0 Ok"};
            add_items(std::move(email), std::array{accepted, intaking, ready, processing, sent}, writes);
          }
          write(writes);
        }
      });
  }

  void write_ready() {
    using enum State;
    std::vector<store::BatchWrite> writes;
    for (int i = 0; i < batch; ++i) {
      Email email = new_email(clock_.now());
      email.due_at = email.created_at;
      add_items(std::move(email), std::array{accepted, intaking, ready}, writes);
    }
    write(writes);
  }

  int claim_once() {
    const auto claim = ledger_->claim(outbox::Pipeline::send, batch, "bench");
    CHECK(claim);
    smtp::SendResult taken;
    taken.severity = smtp::Severity::success;
    taken.recipients = {{"bob@example.org", smtp::Severity::success, {}}};
    std::vector<outbox::Change> changes;
    for (const Email& email : claim->emails) {
      auto change = decide(email, outbox::event::SendingAttempted{{}, taken}, policy_, clock_.now());
      CHECK(change);
      changes.push_back(*std::move(change));
    }
    for (const outbox::MoveOutcome& outcome : ledger_->move(std::move(changes)))
      CHECK(outcome.status == outbox::MoveStatus::done);
    return static_cast<int>(claim->emails.size());
  }

  std::filesystem::path directory_;
  outbox::StoreTables tables_;
  const outbox::Policy policy_;
  base::SystemClock clock_;
  base::SeededRandom random_{1};
  store::Retry retry_{random_, [](base::Milliseconds delay) { std::this_thread::sleep_for(delay); }};
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<outbox::StoreLedger> ledger_;
};

// The stores tidy up in the background after they were filled.
void await_quiet() {
  const auto cpu_time = [] {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return std::chrono::seconds(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           std::chrono::microseconds(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  };
  constexpr std::chrono::milliseconds step(250);
  for (int i = 0; i < 120; ++i) {
    const auto before = cpu_time();
    std::this_thread::sleep_for(step);
    if (cpu_time() - before < step / 20) return;
  }
}

std::string milliseconds(const Pace& pace) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f ms", 1'000 / pace.per_second);
  return text.data();
}

}  // namespace

void compare_claims(OutboxRace& race) {
  const std::uint64_t many = race.quick ? 50'000 : 1'000'000;
  FilledLedger small(race.directory / "few", few);
  FilledLedger large(race.directory / "many", many);
  await_quiet();
  const Plan plan = {.rounds = race.quick ? 8 : 15};
  const std::vector<Pace> paces = compete(
      plan, {[&](Duration) { return small.claim_and_settle(); }, [&](Duration) { return large.claim_and_settle(); }});
  race.report.ceiling("claim 25 and settle them, " + std::to_string(many) + " finished : " + std::to_string(few),
                      milliseconds(paces[1]) + " : " + milliseconds(paces[0]),
                      paces[0].per_second / paces[1].per_second, 1.3);
}

}  // namespace postino::bench
