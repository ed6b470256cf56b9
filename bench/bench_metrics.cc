// How far metrics are behind while tickets are made and moved, on the embedded store, which syncs every commit.
//
//   bench_metrics [--quick]
//
// Writers make tickets and move them, in transactions with an event each, without and with metrics that
// follow: what that costs the writers. The lag is the age of the oldest change that is not counted, looked at every few
// milliseconds; it is measured with batches that do not wait, and with the window of 5 s that is usual. Then all items
// are counted again while the writers go on. Missing a bar is no failure, because the machine is never quiet. The data
// goes below the program's own directory, on a real disk, and is removed afterwards.
#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>

#include "base/check.h"
#include "base/temporary_directory.h"
#include "base/timestamp.h"
#include "engine/engine.h"
#include "metrics/metrics.h"
#include "report.h"
#include "store/table_setup.h"

namespace postino::bench {

namespace {

using namespace std::chrono_literals;
using namespace metrics;

constexpr int writer_threads = 8;
const std::string desk_table = "prod-tickets-unified";

class Desk {
 public:
  explicit Desk(const std::filesystem::path& directory) {
    auto opened = engine::Engine::open({.directory = directory});
    CHECK(opened);
    engine_ = *std::move(opened);
    store::CreateTableRequest request =
        store::table_request(desk_table, {{"PK", item::Type::string}, {"SK", item::Type::string}});
    request.stream =
        store::StreamSpecification{.enabled = true, .view_type = store::StreamViewType::new_and_old_images};
    CHECK(store::prepare_table(*engine_, request, "ttl"));
  }

  // Makes a ticket, moves it twice, and so on.
  Operation writing() {
    return [this, step = 0, id = std::string()]() mutable {
      constexpr std::array<std::string_view, 3> statuses = {"NEW", "PROCESSING", "READY"};
      if (step == 0) id = "tkt_" + std::to_string(++last_);
      const std::string now = base::format_timestamp(clock_.now());
      store::TransactWriteItemsRequest request;
      store::TransactPut ticket, event;
      ticket.table_name = event.table_name = desk_table;
      ticket.item = {{"PK", "TICKET#" + id},
                     {"SK", "METADATA"},
                     {"ticket_id", id},
                     {"status", statuses.at(static_cast<std::size_t>(step))},
                     {"created_at", now},
                     {"completed_at", now},
                     {"symptom_text", std::string(300, 'x')}};
      event.item = {{"PK", "TICKET#" + id},
                    {"SK", "EVENT#" + now.substr(0, 10) + "#00" + std::to_string(step + 1)},
                    {"timestamp", now},
                    {"new_status", statuses.at(static_cast<std::size_t>(step))}};
      request.actions = {std::move(ticket), std::move(event)};
      CHECK(engine_->transact_write_items(request));
      step = (step + 1) % 3;
    };
  }

  std::unique_ptr<Metrics> make_metrics(base::Milliseconds window) {
    MetricsOptions options;
    options.sources = {ticket_source(desk_table)};
    options.following.window = window;
    options.following.keeper.alone = true;
    options.following.poll = 100ms;
    auto made = std::make_unique<Metrics>(*engine_, std::move(options), clock_, random_,
                                          store::Retry(random_, [](base::Milliseconds) { std::this_thread::yield(); }));
    CHECK(made->prepare());
    return made;
  }

  std::int64_t tickets() const { return last_; }

 private:
  const base::SystemClock clock_;
  base::SystemRandom random_;
  std::unique_ptr<engine::Engine> engine_;
  std::atomic<std::int64_t> last_ = 0;
};

// Calls `look` every few milliseconds while it lives.
class Watch {
 public:
  explicit Watch(std::function<void()> look)
      : thread_([this, look = std::move(look)] {
          std::unique_lock lock(mutex_);
          while (!ending_.wait_for(lock, 5ms, [&] { return is_ending_; })) look();
        }) {}
  ~Watch() {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    ending_.notify_all();
    thread_.join();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable ending_;
  bool is_ending_ = false;
  std::thread thread_;
};

std::string milliseconds_text(base::Milliseconds time) { return std::to_string(time.count()) + " ms"; }

struct Load {
  Pace pace;
  std::vector<base::Milliseconds> lags;

  base::Milliseconds at(double part) {
    std::ranges::sort(lags);
    return lags.empty() ? 0ms : lags[static_cast<std::size_t>(part * static_cast<double>(lags.size() - 1))];
  }
};

Load load(Desk& desk, Metrics* metrics, const Plan& plan) {
  Load measured;
  std::unique_ptr<Watch> watch;
  if (metrics != nullptr)
    watch = std::make_unique<Watch>([&] { measured.lags.push_back(metrics->follower("tickets")->counts().lag); });
  measured.pace = compete(plan, {by_threads(writer_threads, [&] { return desk.writing(); })}).front();
  watch.reset();
  return measured;
}

int run(bool quick, const std::filesystem::path& parent) {
  const base::TemporaryDirectory directory(parent);
  const Plan plan{.rounds = quick ? 1 : 5, .turn = quick ? 300ms : 2'000ms};
  Report report;
  Report::header("counted", "alone");
  Desk desk(directory.path() / "data");
  const Load alone = load(desk, nullptr, plan);
  for (const base::Milliseconds window : {0ms, 5'000ms}) {
    const auto metrics = desk.make_metrics(window);
    metrics->start();
    // The second goes on where the first has ended.
    while (window == 0ms && metrics->follower("tickets")->counts().begun == 0) std::this_thread::yield();
    Load counted = load(desk, metrics.get(), plan);
    const std::string with = ", window " + milliseconds_text(window);
    report.row(with_threads("making and moving tickets" + with, writer_threads), counted.pace, alone.pace);
    report.fact("lag, half of the time below" + with, milliseconds_text(counted.at(0.5)));
    report.fact("lag, 99 % of the time below" + with, milliseconds_text(counted.at(0.99)));
    report.fact("lag, at most" + with, milliseconds_text(counted.at(1)));
    if (window == 0ms) {
      std::atomic<bool> is_done = false;
      const auto begin = std::chrono::steady_clock::now();
      std::thread writing([&] {
        for (const Operation write = desk.writing(); !is_done;) write();
      });
      CHECK(metrics->count_anew("tickets"));
      while (metrics->follower("tickets")->counts().begun < 2) std::this_thread::yield();
      is_done = true;
      writing.join();
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
      report.fact("counting " + std::to_string(desk.tickets()) + " tickets again meanwhile",
                  milliseconds_text(std::chrono::duration_cast<base::Milliseconds>(taken)));
    }
    metrics->stop();
  }
  return 0;
}

}  // namespace

}  // namespace postino::bench

int main(int count, char** arguments) {
  const bool quick = count == 2 && std::string_view(arguments[1]) == "--quick";
  if (count > 1 && !quick) {
    std::fprintf(stderr, "usage: bench_metrics [--quick]\n");
    return 2;
  }
  return postino::bench::run(quick, std::filesystem::path(arguments[0]).parent_path());
}
