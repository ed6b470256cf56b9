// The outbox's ledger on MariaDB, which this program starts for itself and which syncs every commit.
//
//   bench_mysql [--quick]
//
// Transitions: batches of 25 e-mails are claimed and then said to be sent, by the ledger and by a loop on the C library
// that sends the same statements and thinks of nothing else. Claims: among few finished e-mails and among many. Missing
// a bar is no failure, because the machine is never quiet.
#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <string_view>
#include <thread>

#include "base/check.h"
#include "mariadb_server.h"
#include "mysql/database.h"
#include "outbox/mysql_ledger/mysql_ledger.h"
#include "outbox/mysql_ledger/mysql_migration.h"
#include "raw_mysql.h"
#include "report.h"

namespace postino::bench {

namespace {

using Clock = std::chrono::steady_clock;
using outbox::Email;
using outbox::State;

constexpr int batch = 25;

// A database with the outbox's tables, and a ledger on it.
class Place {
 public:
  explicit Place(mysql::MariadbServer& server)
      : server_(server.new_database()),
        database_(server_, {.size = 40}, random_, [](base::Milliseconds delay) { std::this_thread::sleep_for(delay); }),
        ledger_(database_, policy_, clock_, random_, outbox::MysqlLedgerOptions{}) {
    CHECK(outbox::migrate(server_, {.program_version = "bench"}));
  }

  const mysql::ServerOptions& server() const { return server_; }
  outbox::MysqlLedger& ledger() { return ledger_; }
  std::uint64_t deadlocks() const { return database_.statistics().deadlocks(); }

  void add_ready(int batches) {
    for (int i = 0; i < batches; ++i) {
      std::vector<outbox::NewEmail> emails;
      for (int n = 0; n < batch; ++n) {
        Email email;
        email.id = base::make_uuid(random_);
        email.sender = "ann@peer.example";
        email.recipients = {{"bob@example.org", outbox::RecipientState::pending, ""}};
        auto change = decide(std::move(email), outbox::event::Accepted{}, policy_, clock_.now());
        CHECK(change);
        change = then(*std::move(change), outbox::event::MessageBuilt{"message"}, policy_, clock_.now());
        CHECK(change);
        emails.push_back({*std::move(change), "{}"});
      }
      const auto answer = ledger_.accept(std::move(emails), std::nullopt, [](const auto&) { return ""; });
      CHECK(answer);
      for (const outbox::AcceptOutcome& outcome : answer->outcomes) CHECK(!outcome.error);
    }
  }

  void add_finished(int count) {
    const auto connection = mysql::Connection::open(server_);
    CHECK(connection);
    const std::string sql =
        "INSERT INTO emails (id, status, version, ledger_version, ledger_status, due_ms, created_ms, updated_ms,"
        " expires_ms, payload_file_path, eml_file_path, reason, sender, recipients, reached)"
        " SELECT UUID(), 'SENT', 5, 5, 'SENT', NULL, 1700000000000 + seq, 1700000000000 + seq, 1900000000000 + seq,"
        " '2026/11/x.json', '2026/11/x.eml', '250 2.0.0 Ok', 'ann@peer.example', '[]', '{}' FROM seq_1_to_" +
        std::to_string(count);
    const auto inserted = (*connection)->run(sql);
    CHECK(inserted);
  }

  std::vector<Email> claim() {
    auto claim = ledger_.claim(outbox::Pipeline::send, batch, "bench");
    CHECK(claim);
    return std::move(claim->emails);
  }

  void settle(const std::vector<Email>& emails) {
    const smtp::Reply reply{250, "2.0.0", "250 2.0.0 Ok"};
    smtp::SendResult taken;
    taken.severity = smtp::Severity::success;
    taken.reply = reply;
    taken.recipients = {{"bob@example.org", smtp::Severity::success, reply}};
    std::vector<outbox::Change> changes;
    for (const Email& email : emails) {
      auto change = decide(email, outbox::event::SendingAttempted{{}, taken}, policy_, clock_.now());
      CHECK(change);
      changes.push_back(*std::move(change));
    }
    for (const outbox::MoveOutcome& outcome : ledger_.move(std::move(changes)))
      CHECK(outcome.status == outbox::MoveStatus::done);
  }

 private:
  base::SystemClock clock_;
  base::SeededRandom random_{1};
  const mysql::ServerOptions server_;
  mysql::Database database_;
  const outbox::Policy policy_;
  outbox::MysqlLedger ledger_;
};

// Threads that claim and settle until everything is done. `make` gives each a function that does a batch, and answers
// how many e-mails that were.
Work race(int threads, int emails, const std::function<std::function<int()>()>& make) {
  std::atomic<int> left = emails;
  std::vector<std::function<int()>> workers;
  for (int i = 0; i < threads; ++i) workers.push_back(make());
  const auto begin = Clock::now();
  std::vector<std::jthread> running;
  for (const auto& worker : workers)
    running.emplace_back([&] {
      while (left > 0) left -= worker();
    });
  running.clear();
  return {static_cast<std::uint64_t>(emails) * 2, Clock::now() - begin};
}

void race_transitions(mysql::MariadbServer& server, Report& report, int threads, bool quick) {
  Place ours(server);
  Place raw(server);
  const int batches = 20 * std::min(threads, 4);
  std::vector<std::shared_ptr<RawMysqlLoop>> loops;
  for (int i = 0; i < threads; ++i) loops.push_back(std::make_shared<RawMysqlLoop>(raw.server()));
  const Turn by_ledger = [&](Duration) {
    ours.add_ready(batches);
    return race(threads, batches * batch, [&] {
      return [&] {
        const std::vector<Email> emails = ours.claim();
        ours.settle(emails);
        return static_cast<int>(emails.size());
      };
    });
  };
  const Turn by_loop = [&](Duration) {
    raw.add_ready(batches);
    std::size_t next = 0;
    return race(threads, batches * batch,
                [&] { return [loop = loops[next++]] { return loop->claim_and_settle(batch); }; });
  };
  const std::vector<Pace> paces = compete({.rounds = quick ? 4 : 10}, {by_ledger, by_loop});
  report.row(with_threads("transitions, claims and moves of 25", threads), paces[0], paces[1], 0.7);
  report.fact("  deadlocks", std::to_string(ours.deadlocks()));
}

std::string milliseconds(const Pace& pace) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f ms", 1'000 / pace.per_second);
  return text.data();
}

void compare_claims(mysql::MariadbServer& server, Report& report, bool quick) {
  constexpr int few = 1'000;
  constexpr int many = 100'000;
  Place small(server);
  Place large(server);
  small.add_finished(few);
  large.add_finished(many);
  const auto turn = [](Place& place) -> Turn {
    return [&place](Duration) {
      constexpr int batches = 20;
      place.add_ready(batches);
      Work work;
      for (int left = batches * batch; left > 0;) {
        const auto begin = Clock::now();
        const std::vector<Email> emails = place.claim();
        work.elapsed += Clock::now() - begin;
        ++work.operations;
        place.settle(emails);
        left -= static_cast<int>(emails.size());
      }
      return work;
    };
  };
  const std::vector<Pace> paces = compete({.rounds = quick ? 6 : 12}, {turn(small), turn(large)});
  report.ceiling("claim 25, " + std::to_string(many) + " finished : " + std::to_string(few),
                 milliseconds(paces[1]) + " : " + milliseconds(paces[0]), paces[0].per_second / paces[1].per_second,
                 1.3);
}

int run(bool quick) {
  mysql::MariadbServer server;
  Report report;
  Report::header("ledger", "C loop");
  for (const int threads : {1, 8, 32}) race_transitions(server, report, threads, quick);
  compare_claims(server, report, quick);
  std::printf("%d below their bar\n", report.below());
  return 0;
}

}  // namespace

}  // namespace postino::bench

int main(int count, char** arguments) {
  const bool quick = count == 2 && std::string_view(arguments[1]) == "--quick";
  if (count > 1 && !quick) {
    std::fprintf(stderr, "usage: bench_mysql [--quick]\n");
    return 2;
  }
  return postino::bench::run(quick);
}
