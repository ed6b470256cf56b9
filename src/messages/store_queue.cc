#include "messages/store_queue.h"

#include <algorithm>

#include "broker/message_codec.h"
#include "broker/production.h"
#include "broker/queue_address.h"
#include "messages/leased_messages.h"
#include "messages/local_queue.h"
#include "messages/queue_layout.h"

namespace postino::messages {

using broker::Depth;
using broker::Failure;
using broker::FailureKind;
using broker::Held;
using broker::Identity;
using broker::Message;
using broker::Messages;
using broker::OnConfirmed;
using broker::ProduceOptions;
using broker::ProduceReport;
using broker::Production;
using broker::ReceiveOptions;

namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t most_known_queues = 10'000;
constexpr std::size_t batch_bytes = 2 << 20;
constexpr std::size_t look_for_room_every = 10'000;  // messages

broker::Result<void> check_name(const std::string& queue) {
  TRY_VOID(broker::queue_address(queue, broker::AddressStyle::bare, ""));
  if (queue.size() > longest_name_like(queue))
    return broker::refuse_invalid("the name of the queue is longer than " + std::to_string(longest_name_like(queue)) +
                                  " bytes");
  return {};
}

// When it may be dropped: after its own time to live, or that of the call.
std::optional<base::TimePoint> expiry_of(const Message& message, const ProduceOptions& options, base::TimePoint now) {
  std::optional<base::Milliseconds> life = options.time_to_live;
  if (const auto own = message.headers.find("ttl"); own != message.headers.end())
    life = base::Milliseconds(std::get<std::int64_t>(own->second));
  if (!life) return std::nullopt;
  return now + *life;
}

// Of messages that were being added: if the store failed meanwhile, they may be there.
Failure failure_to_add(const store::Error& error) {
  Failure failure = failure_of(error);
  if (failure.kind == FailureKind::lost) failure.kind = FailureKind::in_doubt;
  return failure;
}

broker::Result<StoredMessage> encode(const Message& message, const ProduceOptions& options, base::TimePoint now) {
  TRY(const std::vector<char> bytes,
      broker::encode(message, {.persistent = options.persistent, .time_to_live = options.time_to_live}));
  if (bytes.size() > max_stored_message_bytes)
    return broker::refuse_invalid("the message has " + std::to_string(bytes.size()) +
                                  " bytes with its headers and properties; queues in the store take up to " +
                                  std::to_string(max_stored_message_bytes));
  StoredMessage stored;
  stored.content.assign(bytes.begin(), bytes.end());
  stored.id = message.id;
  stored.expires_at = expiry_of(message, options, now);
  return stored;
}

}  // namespace

class StoreQueue::Impl {
 public:
  Impl(store::Store& store, const base::Clock& clock, base::Random& random, store::Retry retry,
       StoreQueueOptions options)
      : clock_(clock),
        random_(random),
        options_(std::move(options)),
        table_(std::make_shared<QueueTable>(store, random, std::move(retry), options_.table)) {}

  broker::Result<std::shared_ptr<LocalQueue>> open(const std::string& name);
  void produce(LocalQueue& queue, Production& production, const ProduceOptions& options);
  broker::Result<std::unique_ptr<Held>> receive(const std::string& name, const ReceiveOptions& options);
  broker::Result<Depth> depth(LocalQueue& queue);
  broker::Result<Identity> test();

 private:
  std::shared_ptr<LocalQueue> known(const std::string& name);
  broker::Result<std::size_t> room_in(LocalQueue& queue);
  // The next messages of a call, as many as go together. Fewer than there are when one breaks a rule.
  std::vector<StoredMessage> next_batch(Production& production, const ProduceOptions& options, std::size_t most,
                                        std::vector<std::size_t>& positions);

  const base::Clock& clock_;
  base::Random& random_;
  const StoreQueueOptions options_;
  const std::shared_ptr<QueueTable> table_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<LocalQueue>, std::less<>> queues_;
};

std::shared_ptr<LocalQueue> StoreQueue::Impl::known(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (const auto queue = queues_.find(name); queue != queues_.end()) return queue->second;
  // Callers can invent names. What is not used can be learnt again.
  if (queues_.size() >= most_known_queues)
    std::erase_if(queues_, [](const auto& each) { return each.second.use_count() == 1; });
  // It begins with the time of the clock, which may have gone back since it was forgotten: so it is marked again.
  const std::string tag = base::make_uuid(random_).substr(0, 8);
  return queues_.emplace(name, std::make_shared<LocalQueue>(table_, clock_, tag, name, options_.lease)).first->second;
}

broker::Result<std::shared_ptr<LocalQueue>> StoreQueue::Impl::open(const std::string& name) {
  TRY_VOID(check_name(name));
  if (const auto prepared = table_->prepare(); !prepared) return base::propagate(failure_of(prepared.error()));
  return known(name);
}

broker::Result<std::size_t> StoreQueue::Impl::room_in(LocalQueue& queue) {
  for (const bool again : {false, true}) {
    const auto counts = queue.counts(options_.max_messages);
    if (!counts) return base::propagate(failure_of(counts.error()));
    std::int64_t count = 0;
    for (const std::int64_t on_shelf : *counts)
      count += std::clamp(on_shelf, -static_cast<std::int64_t>(options_.max_messages),
                          static_cast<std::int64_t>(options_.max_messages));
    if (count < static_cast<std::int64_t>(options_.max_messages))
      return static_cast<std::size_t>(static_cast<std::int64_t>(options_.max_messages) -
                                      std::max<std::int64_t>(count, 0));
    if (again) break;
    if (const auto dropped = queue.drop_expired(); !dropped) return base::propagate(failure_of(dropped.error()));
  }
  return broker::refuse(FailureKind::exhausted,
                        "the queue has " + std::to_string(options_.max_messages) + " messages, which is its limit");
}

std::vector<StoredMessage> StoreQueue::Impl::next_batch(Production& production, const ProduceOptions& options,
                                                        std::size_t most, std::vector<std::size_t>& positions) {
  const base::TimePoint now = clock_.now();
  std::vector<StoredMessage> batch;
  for (std::size_t bytes = 0; batch.size() < most && bytes < batch_bytes;) {
    const auto position = production.next();
    if (!position) break;
    auto stored = encode(production.message(*position), options, now);
    if (!stored) {
      production.reject(*position, std::move(stored).error());
      break;
    }
    bytes += stored->content.size();
    batch.push_back(*std::move(stored));
    positions.push_back(*position);
  }
  return batch;
}

void StoreQueue::Impl::produce(LocalQueue& queue, Production& production, const ProduceOptions& options) {
  const auto deadline = Steady::now() + options.time_limit;
  std::size_t room = 0;
  while (true) {
    if (room == 0) {
      auto left = room_in(queue);
      if (!left) return production.stop(std::move(left).error());
      room = std::min(*left, look_for_room_every);
    }
    std::vector<std::size_t> positions;
    std::vector<StoredMessage> batch =
        next_batch(production, options, std::min({options.window, QueueTable::moves_at_once(1), room}), positions);
    if (batch.empty()) return;
    room -= batch.size();
    const MoveReport report = queue.add(std::move(batch), options.delay.value_or(base::Milliseconds(0)));
    std::size_t added = 0;
    while (added < report.done.size() && report.done[added]) ++added;
    positions.resize(added);
    production.confirm(positions);
    if (report.trouble) return production.stop(failure_to_add(*report.trouble));
    if (Steady::now() >= deadline) production.stop({FailureKind::timed_out, "the time limit is reached", {}});
  }
}

broker::Result<std::unique_ptr<Held>> StoreQueue::Impl::receive(const std::string& name,
                                                                const ReceiveOptions& options) {
  TRY(std::shared_ptr<LocalQueue> queue, open(name));
  const auto dead = dead_queue(name);
  LocalQueue::Demand demand{.messages = options.max_messages,
                            .bytes = options.max_bytes,
                            .owner = base::make_uuid(random_),
                            .lease = options_.lease + options.linger};
  bool lacks_room = false;
  if (options.room)
    demand.room = [&](std::size_t bytes) {
      lacks_room |= !options.room(bytes);
      return !lacks_room;
    };
  const base::Milliseconds kept_until = clock_.monotonic() + demand.lease;
  auto deadline = Steady::now() + options.wait;
  std::vector<StoredMessage> all;
  while (true) {
    const std::uint64_t arrivals = queue->arrivals();
    auto taken = queue->take(demand);
    // What is held already must not be lost because of what comes after it.
    if (!taken && all.empty()) return base::propagate(failure_of(taken.error()));
    if (!taken) break;
    if (all.empty() && !taken->empty()) deadline = Steady::now() + options.linger;
    for (StoredMessage& message : *taken) {
      demand.bytes -= std::min(demand.bytes, message.content.size());
      all.push_back(std::move(message));
    }
    demand.messages = options.max_messages - all.size();
    if (demand.messages == 0 || demand.bytes == 0 || lacks_room) break;
    if (Steady::now() >= deadline || options.stop.stop_requested()) break;
    queue->await_arrival(arrivals, std::min(deadline, Steady::now() + options_.poll));
  }
  return std::make_unique<LeasedMessages>(std::move(queue), dead ? known(*dead) : nullptr, std::move(all), kept_until);
}

broker::Result<Depth> StoreQueue::Impl::depth(LocalQueue& queue) {
  if (const auto returned = queue.return_due(); !returned) return base::propagate(failure_of(returned.error()));
  const auto counts = queue.counts(options_.max_messages);
  if (!counts) return base::propagate(failure_of(counts.error()));
  return Depth{
      static_cast<std::uint64_t>(std::max<std::int64_t>((*counts)[static_cast<std::size_t>(Shelf::ready)], 0))};
}

broker::Result<Identity> StoreQueue::Impl::test() {
  const auto began = Steady::now();
  if (const auto prepared = table_->prepare(); !prepared) return base::propagate(failure_of(prepared.error()));
  if (const auto counts = table_->counts("-"); !counts) return base::propagate(failure_of(counts.error()));
  Identity identity;
  identity.endpoint = "table " + table_->name();
  identity.product = "Postino";
  identity.elapsed = std::chrono::duration_cast<base::Milliseconds>(Steady::now() - began);
  return identity;
}

StoreQueue::StoreQueue(store::Store& store, const base::Clock& clock, base::Random& random, store::Retry retry,
                       StoreQueueOptions options)
    : impl_(std::make_unique<Impl>(store, clock, random, std::move(retry), std::move(options))) {}
StoreQueue::~StoreQueue() = default;

ProduceReport StoreQueue::produce(const std::string& queue, const Messages& messages, const ProduceOptions& options,
                                  const OnConfirmed& on_confirmed) {
  const auto refused = [](Failure failure) {
    ProduceReport report;
    report.failure = std::move(failure);
    return report;
  };
  if (auto checked = check(messages, options); !checked) return refused(std::move(checked).error());
  const auto opened = impl_->open(queue);
  if (!opened) return refused(opened.error());
  Production production(messages, options, on_confirmed);
  if (options.first < messages.count) impl_->produce(**opened, production, options);
  return production.report();
}

broker::Result<std::unique_ptr<Held>> StoreQueue::receive(const std::string& queue, const ReceiveOptions& options) {
  TRY_VOID(check(options));
  return impl_->receive(queue, options);
}

broker::Result<Depth> StoreQueue::depth(const std::string& queue) {
  TRY(const std::shared_ptr<LocalQueue> opened, impl_->open(queue));
  return impl_->depth(*opened);
}

broker::Result<Identity> StoreQueue::test() { return impl_->test(); }

}  // namespace postino::messages
