#include "runner.h"

#include <utility>

namespace postino::model {

namespace {

// Sunday, 1 March 2026, noon UTC.
constexpr base::TimePoint start = base::TimePoint(base::Milliseconds(1'772'366'400'000));

constexpr std::size_t shown_operations = 6;
constexpr std::size_t shown_characters = 4'000;  // of each

}  // namespace

Runner::Runner(const RunSettings& settings)
    : settings_(settings),
      clock_(std::make_shared<base::ManualClock>(start)),
      choice_(settings.seed),
      model_(clock_),
      generator_(choice_, settings.vocabulary, model_),
      builder_(choice_) {}

Runner::~Runner() { followers_.clear(); }

void Runner::open() {
  engine::Options options;
  options.directory = directory_.path() / "data";
  options.durability = settings_.durability;
  options.background = false;
  options.clock = clock_;
  options.random = std::make_shared<base::SeededRandom>(settings_.seed);
  // Small, so that data goes to files and comes back from there.
  options.memtable_bytes = 256 << 10;
  options.block_cache_bytes = 1 << 20;
  auto opened = engine::Engine::open(std::move(options));
  if (!opened) return expect_same("cannot open the store: " + opened.error().message);
  engine_ = *std::move(opened);
  if (settings_.front) front_ = settings_.front(*engine_);
}

void Runner::reopen() {
  // A process that works by itself looks at the time all day, from its first moment to its last. Without that, a clock
  // that has moved by a day would look like one that was set wrongly, and nothing would expire for an hour.
  maintain_once();
  announce("reopen");
  for (auto& [name, follower] : followers_) follower.subscription.reset();
  front_.reset();
  engine_.reset();
  open();
  if (failure_.empty()) maintain_once();
  if (failure_.empty()) check_everything();
}

void Runner::announce(std::string text) {
  if (last_operations_.size() == shown_operations) last_operations_.pop_front();
  if (text.size() > shown_characters) text = text.substr(0, shown_characters) + " ...";
  last_operations_.push_back(std::to_string(operation_number_) + ": " + std::move(text));
}

void Runner::expect_same(const std::string& difference) {
  if (difference.empty() || !failure_.empty()) return;
  failure_ = "seed " + std::to_string(settings_.seed) + ", operation " + std::to_string(operation_number_) + ": " +
             difference + "\nthe last operations:";
  for (const std::string& operation : last_operations_) failure_ += "\n  " + operation;
}

bool Runner::one_step() {
  static const std::vector<std::pair<int, Operation>> operations = {
      {450, &Runner::write_item},        {90, &Runner::get_item},
      {40, &Runner::write_batch},        {30, &Runner::get_batch},
      {80, &Runner::write_transaction},  {30, &Runner::get_transaction},
      {15, &Runner::repeat_transaction}, {170, &Runner::read_pages},
      {12, &Runner::scan_segments},      {25, &Runner::advance_clock},
      {20, &Runner::maintain_once},      {8, &Runner::maintain_until_done},
      {15, &Runner::describe_table},     {15, &Runner::follow_stream},
      {3, &Runner::check_streams},       {5, &Runner::add_index},
      {4, &Runner::remove_index},        {4, &Runner::switch_time_to_live},
      {3, &Runner::switch_stream},       {1, &Runner::replace_table},
      {2, &Runner::check_everything},    {2, &Runner::reopen},
  };
  int sum = 0;
  for (const auto& [weight, operation] : operations) sum += weight;
  int place = choice_.between(1, sum);
  for (const auto& [weight, operation] : operations) {
    place -= weight;
    if (place > 0) continue;
    ++operation_number_;
    (this->*operation)();
    break;
  }
  return failure_.empty();
}

std::string Runner::run() {
  open();
  for (int i = 0; i < settings_.table_count && failure_.empty(); ++i) create_table("table_" + std::to_string(i));
  while (failure_.empty() && operation_number_ < settings_.operations && one_step()) {
  }
  if (failure_.empty()) maintain_until_done();
  if (failure_.empty()) reopen();
  return failure_;
}

}  // namespace postino::model
