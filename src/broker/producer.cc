#include "broker/producer.h"

#include <algorithm>

#include "base/log.h"
#include "base/this_thread.h"
#include "broker/queue_address.h"

namespace postino::broker {

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// Bodies on their way, on all connections. One message is always allowed on each.
constexpr std::size_t most_unconfirmed_bytes = 64 << 20;
// RabbitMQ before 4.0 cannot say that a queue rejects a message: its plugin crashes. It says nothing for three seconds
// then, and breaks the connection off.
constexpr milliseconds rejecting_silence{2'500};
constexpr milliseconds shortest_pause{100};
constexpr milliseconds longest_pause{2'000};

}  // namespace

Producer::Producer(const Connector& connector, const std::string& queue, const ProduceOptions& options,
                   Deadline deadline, Production& production, Role role)
    : connector_(connector),
      queue_(queue),
      options_(options),
      deadline_(deadline),
      production_(production),
      role_(role),
      guards_(connector.settings().guard_queue) {
  encoding_.persistent = options.persistent;
  encoding_.time_to_live = options.time_to_live;
  encoding_.delay = options.delay;
  encoding_.now = base::SystemClock().now();
  encoding_.text_as_value = connector.settings().text_as_value;
}

Deadline Producer::soon() const { return std::min(deadline_, Clock::now() + connector_.settings().answer_timeout); }

Result<Lease> Producer::connect() {
  auto lease = connector_.connect(deadline_);
  // A broker that was there may come back.
  return lease || breaks_ == 0 || !lease.error().is_temporary() ? std::move(lease) : reconnect();
}

Result<Lease> Producer::reconnect() {
  base::Pause pause;
  const Deadline end = std::min(deadline_, Clock::now() + options_.reconnect_time);
  for (milliseconds wait = shortest_pause;; wait = std::min(2 * wait, longest_pause)) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
    pause.wait(std::min(wait, std::max(left, milliseconds(0))));
    auto lease = connector_.connect(deadline_);
    if (lease || !lease.error().is_temporary() || Clock::now() >= end || production_.is_stopped()) return lease;
    if (lease.error().kind == FailureKind::stopped) return lease;
  }
}

Result<void> Producer::choose_encoding(const Peer& peer) {
  if (!options_.delay || *options_.delay == milliseconds(0)) return {};
  encoding_.schedule_for_azure = peer.is_azure();
  if (peer.is_azure() || peer.capabilities.contains("DELAYED_DELIVERY")) return {};
  return refuse(FailureKind::unsupported,
                (peer.product.empty() ? "this broker" : peer.product) + " cannot delay messages");
}

// See ConnectionSettings::guard_queue.
Result<void> Producer::open_guard(const std::shared_ptr<Connection>& connection, const std::string& address,
                                  bool durable) {
  guard_.reset();
  if (!guards_ || !connection->peer().is_rabbitmq_before_4()) return {};
  guard_ = std::make_shared<ReceivingLink>(connection, address, durable);
  connection->open_link(guard_);
  return guard_->await_open(soon());
}

Result<void> Producer::open(const Lease& lease) {
  const auto& connection = lease.connection();
  const ConnectionSettings& settings = connector_.settings();
  TRY_VOID(choose_encoding(connection->peer()));
  const AddressStyle style = choose_style(settings.address_style, connection->peer());
  TRY(const std::string address, queue_address(queue_, style, settings.address_prefix));
  const bool durable = style == AddressStyle::rabbitmq_declare;
  TRY_VOID(open_guard(connection, address, durable));
  link_ = std::make_shared<SendingLink>(connection, address, durable);
  connection->open_link(link_);
  return link_->await_open(soon());
}

// Up to a window of messages is on its way.
void Producer::fill() {
  if (Clock::now() >= deadline_) production_.stop({FailureKind::timed_out, "the time limit is reached", {}});
  const std::uint64_t broker_limit = link_->largest_message();
  const std::size_t limit = connector_.settings().max_message_bytes;
  std::vector<SendingLink::Outgoing> messages;
  const std::size_t most_bytes = most_unconfirmed_bytes / static_cast<std::size_t>(options_.connections);
  while (unconfirmed_.size() < options_.window && unconfirmed_bytes_ < most_bytes) {
    const auto position = production_.next();
    if (!position) break;
    auto bytes = encode(production_.message(*position), encoding_);
    if (bytes && (bytes->size() > limit || (broker_limit != 0 && bytes->size() > broker_limit)))
      bytes = refuse(FailureKind::invalid,
                     "the message has " + std::to_string(bytes->size()) + " bytes; at most " +
                         std::to_string(broker_limit == 0 ? limit : std::min<std::uint64_t>(limit, broker_limit)) +
                         " are allowed");
    if (!bytes) {
      production_.reject(*position, std::move(bytes).error());
      break;
    }
    unconfirmed_[*position] = bytes->size();
    unconfirmed_bytes_ += bytes->size();
    production_.mark_sent(*position);
    messages.push_back({*position, *std::move(bytes)});
  }
  if (messages.empty()) return;
  last_news_ = Clock::now();
  link_->offer(std::move(messages));
}

Result<void> Producer::settle() {
  TRY(const auto outcomes, link_->take(soon()));
  last_news_ = Clock::now();
  std::vector<std::size_t> confirmed;
  for (const SendingLink::Outcome& outcome : outcomes) {
    const auto sent = unconfirmed_.find(outcome.position);
    if (sent == unconfirmed_.end()) continue;
    unconfirmed_bytes_ -= sent->second;
    unconfirmed_.erase(sent);
    if (outcome.confirmed) {
      confirmed.push_back(outcome.position);
    } else {
      production_.reject(outcome.position, {FailureKind::rejected, outcome.reason, {}});
    }
  }
  if (!confirmed.empty()) production_.confirm(confirmed);
  return {};
}

Result<void> Producer::close() {
  TRY_VOID(link_->close(soon()));
  if (guard_) return guard_->close(soon());
  return {};
}

Result<void> Producer::work(Lease& lease) {
  TRY_VOID(open(lease));
  is_open_ = true;
  do {
    for (fill(); !unconfirmed_.empty(); fill()) TRY_VOID(settle());
    // Others may be behind, or have given some back.
  } while (production_.await_next(deadline_));
  // Everything is settled: whether the link closes well matters to the connection alone.
  if (close()) lease.give_back();
  return {};
}

// Is there a point in going on with another connection?
bool Producer::may_go_on(const Failure& failure, const Lease& lease) {
  if (failure.kind == FailureKind::refused && guard_ && !link_) {
    // We may write to the queue but not read from it.
    guards_ = false;
    return true;
  }
  if (failure.kind != FailureKind::lost) return false;
  // One that has waited may have died meanwhile: that does not count as a break.
  if (lease.is_used() && !is_open_) return true;
  return breaks_++ < options_.reconnects;
}

bool Producer::looks_rejected(const Failure& failure, const Lease& lease) const {
  return failure.kind == FailureKind::lost && is_open_ && !unconfirmed_.empty() &&
         lease.connection()->peer().is_rabbitmq_before_4() && Clock::now() - last_news_ >= rejecting_silence;
}

bool Producer::ends_rejected() {
  auto lease = connector_.connect(deadline_, Connector::Want::fresh);
  if (!lease) return false;  // it is gone, and what it did before it went means nothing
  lease->give_back();
  production_.stop({FailureKind::rejected,
                    "RabbitMQ broke the connection off instead of confirming messages; before version 4.0 it does so "
                    "when the queue is full and rejects them (overflow reject-publish)",
                    {}});
  return true;
}

void Producer::run(std::function<void()> on_connected) {
  bool go_on = true;
  while (go_on) {
    is_open_ = false;
    link_.reset();
    guard_.reset();
    auto lease = connect();
    if (!lease) {
      if (role_ == Role::leads || breaks_ > 0) production_.stop(std::move(lease).error());
      return;
    }
    if (const auto tell = std::exchange(on_connected, nullptr)) tell();
    auto worked = work(*lease);
    if (worked) return;
    if (looks_rejected(worked.error(), *lease) && ends_rejected()) return;
    std::vector<std::size_t> positions;
    for (const auto& [position, bytes] : unconfirmed_) positions.push_back(position);
    unconfirmed_.clear();
    unconfirmed_bytes_ = 0;
    go_on = may_go_on(worked.error(), *lease);
    if (go_on) {
      base::log_info("broker", "a connection broke; continuing with another",
                     {{"unconfirmed", std::to_string(positions.size())}, {"cause", worked.error().message}});
      production_.give_back(positions);
    } else {
      production_.stop(std::move(worked).error());
    }
  }
}

}  // namespace postino::broker
