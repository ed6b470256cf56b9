// What it costs to do something once: the guard of idempotency keys on the embedded store, which syncs every commit.
//
//   bench_messages [--quick]
//
// An execution is a key taken and an answer kept, with nothing between them: two durable writes. It is compared with
// bare durable puts of the item that an execution leaves behind. A replay reads the answer and writes nothing; it is
// compared with a bare read of the item. Missing a bar is no failure, because the machine is never quiet. The data goes
// below the program's own directory, on a real disk, and is removed afterwards.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/check.h"
#include "base/hash.h"
#include "base/temporary_directory.h"
#include "engine/engine.h"
#include "idempotency/guard.h"
#include "report.h"

namespace postino::bench {

namespace {

using idempotency::KeyState;

constexpr const char* operation = "PRODUCE";
constexpr const char* known_key = "known";
const std::string request_hash = base::to_hex(base::sha256("the request"));
const std::string answer =
    R"({"idempotencyKey":"5c1e0a56-4a58-4aaf-9359-83ec8f663f10","operationType":"PRODUCE","requestedMessages":100,)"
    R"("processedMessages":100,"startedAt":"2026-11-15T09:30:00.000Z","completedAt":"2026-11-15T09:30:02.500Z",)"
    R"("elapsed":"PT2.5S","metadata":{"queue":"orders"}})";

std::unique_ptr<engine::Engine> open_store(const std::filesystem::path& directory) {
  auto opened = engine::Engine::open({.directory = directory});
  CHECK(opened);
  return *std::move(opened);
}

// A store of each contestant's own, so that none pays for what another has written.
class Place {
 public:
  explicit Place(const std::filesystem::path& directory)
      : engine_(open_store(directory)), guard_(*engine_, clock_, random_, options_) {
    CHECK(idempotency::prepare_tables(*engine_, options_.table));
    execute(known_key);
  }

  Operation executing() {
    return [this] { execute(base::make_uuid(random_)); };
  }
  Operation putting() {
    return [this] {
      idempotency::Record record = guard_.new_record(operation, base::make_uuid(random_), request_hash, std::nullopt);
      record.status = idempotency::Status::completed;
      record.response = answer;
      store::PutItemRequest put;
      put.table_name = options_.table;
      put.item = to_item(record);
      CHECK(engine_->put_item(put));
    };
  }
  Operation replaying() {
    return [this] {
      const auto again = guard_.look(operation, known_key, request_hash);
      CHECK(again && again->state == KeyState::replay);
    };
  }
  Operation getting() {
    return [this] {
      store::GetItemRequest get;
      get.table_name = options_.table;
      get.key = {{"pk", idempotency::partition_key(operation, known_key)}};
      get.consistent_read = true;
      const auto found = engine_->get_item(get);
      CHECK(found && found->item);
    };
  }

 private:
  void execute(const std::string& key) {
    const auto begun = guard_.begin(operation, key, request_hash);
    CHECK(begun && begun->state == KeyState::execute);
    CHECK(guard_.complete(begun->record, answer));
  }

  const idempotency::GuardOptions options_;
  base::SystemClock clock_;
  base::SystemRandom random_;
  std::unique_ptr<engine::Engine> engine_;
  idempotency::Guard guard_;
};

int run(bool quick, const std::filesystem::path& parent) {
  const base::TemporaryDirectory directory(parent);
  Place guarded(directory.path() / "guarded");
  Place bare(directory.path() / "bare");
  const Plan plan = quick ? Plan{.rounds = 3, .turn = Duration(200)} : Plan{};
  Report report;
  Report::header("guard", "bare");
  for (const int threads : {1, 16, 64}) {
    const std::vector<Pace> paces = compete(plan, {by_threads(threads, [&] { return guarded.executing(); }),
                                                   by_threads(threads, [&] { return bare.putting(); })});
    report.row(with_threads("executions : durable puts", threads), paces[0], paces[1], 0.4);
  }
  for (const int threads : {1, 16}) {
    const std::vector<Pace> paces = compete(plan, {by_threads(threads, [&] { return guarded.replaying(); }),
                                                   by_threads(threads, [&] { return bare.getting(); })});
    report.row(with_threads("replays : reads", threads), paces[0], paces[1]);
  }
  std::printf("%d below their bar\n", report.below());
  return 0;
}

}  // namespace

}  // namespace postino::bench

int main(int count, char** arguments) {
  const bool quick = count == 2 && std::string_view(arguments[1]) == "--quick";
  if (count > 1 && !quick) {
    std::fprintf(stderr, "usage: bench_messages [--quick]\n");
    return 2;
  }
  return postino::bench::run(quick, std::filesystem::path(arguments[0]).parent_path());
}
