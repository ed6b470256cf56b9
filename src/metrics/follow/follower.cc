#include "metrics/follow/follower.h"

#include <algorithm>

#include "base/log.h"
#include "base/this_thread.h"
#include "metrics/follow/table_stream.h"

namespace postino::metrics {

Follower::Follower(store::Store& store, FollowerOptions options, ChangeHandler& handler, const base::Clock& clock,
                   base::Random& random, store::Retry retry)
    : store_(store),
      options_(std::move(options)),
      handler_(handler),
      clock_(clock),
      random_(random),
      keeper_(store, options_.keeper, clock, std::move(retry)),
      feed_(store, options_.table) {}

Follower::~Follower() { stop(); }

// What was read and is not done is read again, by the process that follows then.
void Follower::drop() {
  feed_.drop();
  batch_.clear();
  oldest_waiting_ = 0;
  handler_.leave();
}

Outcome<void> Follower::call_for_anew(const std::string& reason) {
  base::log_warning("metrics", "everything is done again", {{"follower", options_.keeper.follower}, {"cause", reason}});
  drop();
  Checkpoint next = keeper_.checkpoint();
  next.due = reason;
  return keeper_.commit(std::move(next), {});
}

// The feed goes on where the checkpoint says, unless there is a reason to start over.
Outcome<void> Follower::open() {
  TRY_VOID(check_stream(store_, options_.table, options_.may_enable_stream));
  const Checkpoint& checkpoint = keeper_.checkpoint();
  std::string reason = checkpoint.due;
  if (reason.empty()) {
    feed_.go_on_behind(checkpoint.place);
    const auto missed = feed_.open();
    if (!missed) return temporary(missed.error());
    if (missed->empty()) return {};
    reason = *missed;
  }
  if (began_ && clock_.monotonic() - *began_ < options_.between_beginnings)
    return trouble(Trouble::temporary, "it started over a moment ago, and has to again: " + reason);
  base::log_info("metrics", "starting over", {{"follower", options_.keeper.follower}, {"cause", reason}});
  const auto begun = handler_.begin(
      {.table = options_.table, .reason = reason, .is_ending = [this] { return !pause(base::Milliseconds(0)); }}, feed_,
      keeper_);
  if (!begun) {
    feed_.drop();  // the checkpoint does not know what it was begun with
    return base::propagate(begun.error());
  }
  set_aside_ += *begun;
  ++begun_;
  began_ = clock_.monotonic();
  return {};
}

// Until the batch is full, its window has passed since the first change, or the stream has no more. False: there is no
// change. What was read before changes were missed is handled first: they are missed at the next look, too.
Outcome<bool> Follower::gather() {
  base::Milliseconds wait = batch_.empty() ? options_.poll : base::Milliseconds(0);
  const auto full = static_cast<std::size_t>(options_.batch);
  std::optional<base::Milliseconds> end;
  std::int64_t bytes = 0;
  for (const store::StreamRecord& record : batch_) bytes += record.size_bytes;
  while (feed_.is_open() && batch_.size() < full && bytes < options_.batch_bytes) {
    auto changes = feed_.next(static_cast<int>(full - batch_.size()), wait);
    if (!changes) return temporary(changes.error());
    if (!changes->missed.empty() && batch_.empty()) TRY_VOID(call_for_anew(changes->missed));
    if (changes->records.empty()) break;
    for (const store::StreamRecord& record : changes->records) bytes += record.size_bytes;
    std::ranges::move(changes->records, std::back_inserter(batch_));
    note_lag();
    const base::Milliseconds now = clock_.monotonic();
    if (!end) end = now + options_.window;
    if (now >= *end) break;
    wait = *end - now;
  }
  return !batch_.empty();
}

void Follower::note_lag() {
  oldest_waiting_ = batch_.empty() ? 0 : std::max<std::int64_t>(base::epoch_milliseconds(batch_.front().time), 1);
}

Outcome<void> Follower::retry_single(std::span<const store::StreamRecord> record, Failure failure) {
  for (int retry = 1; retry <= options_.retries; ++retry) {
    if (!pause(options_.pauses.full_jitter(retry, random_))) return trouble(Trouble::temporary, "the follower ends");
    const auto handled = handler_.handle(record, keeper_);
    if (handled) return {};
    failure = handled.error();
    if (failure.kind != Trouble::record) return base::propagate(std::move(failure));
  }
  TRY_VOID(handler_.set_aside(record.front(), failure.reason, keeper_));
  ++set_aside_;
  base::log_error("metrics", "a change was set aside",
                  {{"follower", options_.keeper.follower},
                   {"sequence", record.front().sequence_number.text()},
                   {"cause", failure.reason}});
  return {};
}

Outcome<void> Follower::work(std::span<const store::StreamRecord> records) {
  while (!records.empty() && keeper_.checkpoint().place.has_done(records.front())) records = records.subspan(1);
  if (records.empty()) return {};
  const auto handled = handler_.handle(records, keeper_);
  if (handled) return {};
  if (handled.error().kind != Trouble::record) return base::propagate(handled.error());
  if (records.size() == 1) return retry_single(records, handled.error());
  ++halved_;
  const std::size_t half = records.size() / 2;
  TRY_VOID(work(records.first(half)));
  return work(records.subspan(half));
}

bool Follower::ask(Errand errand) {
  constexpr std::size_t most_errands = 1'000;
  const std::lock_guard lock(mutex_);
  if (errands_.size() >= most_errands) return false;
  errands_.push_back(std::move(errand));
  return true;
}

// What fails is not tried again: the operator sees that it was not done. Those behind it have their turn in the next
// round.
Outcome<void> Follower::run_errands() {
  std::vector<Errand> errands;
  {
    const std::lock_guard lock(mutex_);
    errands.swap(errands_);
  }
  for (auto errand = errands.begin(); errand != errands.end(); ++errand) {
    const auto done = (*errand)(keeper_);
    if (done) continue;
    const std::lock_guard lock(mutex_);
    errands_.insert(errands_.begin(), std::make_move_iterator(errand + 1), std::make_move_iterator(errands.end()));
    return done;
  }
  return {};
}

// When everything that was read is done, so are shards that have ended: the checkpoint knows those that came in their
// place. This happens also where nothing is written.
Outcome<void> Follower::keep_place() {
  if (!feed_.is_open() || !batch_.empty()) return {};
  Checkpoint next = keeper_.checkpoint();
  next.place = feed_.place_behind_all_read();
  return next.place == keeper_.checkpoint().place ? Outcome<void>() : keeper_.commit(std::move(next), {});
}

Outcome<Follower::Round> Follower::turn() {
  TRY(const bool holds, keeper_.hold());
  follows_ = holds;
  if (!holds) return Round::standing_by;
  if (is_anew_wanted_.exchange(false)) {
    began_.reset();
    TRY_VOID(call_for_anew("an operator wants it"));
  }
  if (!feed_.is_open() && batch_.empty()) TRY_VOID(open());
  TRY_VOID(run_errands());
  TRY_VOID(handler_.between_batches(keeper_));
  TRY(const bool any, gather());
  if (!any) {
    TRY_VOID(keep_place());
    TRY_VOID(keeper_.renew());
    return feed_.is_open() ? Round::waiting : Round::beginning;
  }
  TRY_VOID(work(batch_));
  records_ += batch_.size();
  ++batches_;
  batch_.clear();
  note_lag();
  TRY_VOID(keep_place());
  return Round::handled;
}

// True: it is news.
bool Follower::tell(const std::string& problem) {
  const std::lock_guard lock(mutex_);
  if (told_ == problem) return false;
  told_ = problem;
  return true;
}

std::string Follower::problem() const {
  const std::lock_guard lock(mutex_);
  return told_;
}

void Follower::react(const Failure& failure) {
  ++failures_in_a_row_;
  // A service makes its table when it needs it, so that this is no fault.
  const bool is_absent = failure.kind == Trouble::absent;
  if (!is_absent) ++failures_;
  const bool is_news = tell(failure.reason);
  if (is_absent && is_news)
    base::log_info("metrics", "waiting for a table",
                   {{"follower", options_.keeper.follower}, {"cause", failure.reason}});
  if (!is_absent && trouble_.fails(failure.reason))
    base::log_warning("metrics", "changes cannot be handled now",
                      {{"follower", options_.keeper.follower}, {"cause", failure.reason}});
  if (failure.kind == Trouble::figures) {
    if (!call_for_anew(failure.reason)) keeper_.forget();
    return;
  }
  if (failure.kind == Trouble::lost) give_up_turn();
}

void Follower::give_up_turn() {
  keeper_.forget();
  follows_ = false;
  drop();
}

Follower::Round Follower::run_once() {
  const auto done = turn();
  if (!done && done.error().kind == Trouble::followed) {
    base::log_info("metrics", "stands by", {{"follower", options_.keeper.follower}, {"cause", done.error().reason}});
    give_up_turn();
    tell("");
    return Round::standing_by;
  }
  if (!done) {
    react(done.error());
    return Round::failed;
  }
  failures_in_a_row_ = 0;
  tell("");
  if (trouble_.works())
    base::log_info("metrics", "changes are handled again", {{"follower", options_.keeper.follower}});
  return *done;
}

bool Follower::pause(base::Milliseconds time) {
  std::unique_lock lock(mutex_);
  return !stopping_.wait_for(lock, time, [&] { return is_stopped_; });
}

void Follower::start() {
  thread_ = std::thread([this] {
    base::name_thread("metrics");
    bool goes_on = true;
    while (goes_on) {
      switch (run_once()) {
        case Round::handled:
        case Round::waiting:
        case Round::beginning:
          goes_on = pause(base::Milliseconds(0));
          break;
        case Round::standing_by:
          goes_on = pause(options_.poll);
          break;
        case Round::failed:
          goes_on = pause(options_.pauses.equal_jitter(failures_in_a_row_, random_));
          break;
      }
    }
    drop();
    keeper_.release();
    follows_ = false;
  });
}

void Follower::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  feed_.close();
  stopping_.notify_all();
  if (thread_.joinable()) thread_.join();
}

FollowerCounts Follower::counts() const {
  FollowerCounts counts{.records = records_,
                        .batches = batches_,
                        .halved = halved_,
                        .set_aside = set_aside_,
                        .begun = begun_,
                        .failures = failures_,
                        .follows = follows_,
                        .lag = base::Milliseconds(0)};
  if (const std::int64_t oldest = oldest_waiting_; oldest != 0)
    counts.lag = std::max(clock_.now() - base::from_epoch_milliseconds(oldest), base::Milliseconds(0));
  return counts;
}

}  // namespace postino::metrics
