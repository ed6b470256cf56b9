#include "broker/connection/receiving_link.h"

#include <proton/delivery.h>
#include <proton/disposition.h>
#include <proton/link.h>
#include <proton/session.h>
#include <proton/terminus.h>

#include <algorithm>

namespace postino::broker {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_credit = 500;
constexpr std::size_t first_credit = 100;  // before we know how large messages are
constexpr std::chrono::milliseconds quiet{20};

std::uint64_t state_of(Disposition disposition) {
  switch (disposition) {
    case Disposition::acknowledge:
      return PN_ACCEPTED;
    case Disposition::reject:
      return PN_REJECTED;
    case Disposition::release:
      break;
  }
  return PN_RELEASED;
}

}  // namespace

ReceivingLink::ReceivingLink(std::shared_ptr<Connection> connection, std::string address, bool durable)
    : Link(std::move(connection), std::move(address), durable),
      is_answered_(connection_->peer().is_rabbitmq_before_4()),
      most_credit_(is_answered_ ? first_credit : most_credit) {}

pn_link_t* ReceivingLink::make(pn_session_t* session, const char* name) {
  pn_link_t* const link = pn_receiver(session, name);
  pn_link_set_snd_settle_mode(link, PN_SND_UNSETTLED);
  pn_link_set_rcv_settle_mode(link, PN_RCV_FIRST);
  pn_terminus_set_address(pn_link_source(link), address_.c_str());
  if (durable_) pn_terminus_set_durability(pn_link_source(link), PN_CONFIGURATION);
  return link;
}

bool ReceivingLink::is_attached() const { return pn_terminus_get_type(pn_link_remote_source(link_)) != PN_UNSPECIFIED; }

void ReceivingLink::begin(const Limits& limits) {
  connection_->locked([&] { limits_ = limits; });
  connection_->post([self = std::static_pointer_cast<ReceivingLink>(shared_from_this())] {
    if (self->link_ != nullptr) self->give_credit();
  });
}

Result<void> ReceivingLink::await_in_vain(Deadline deadline, const std::stop_token& stop,
                                          const std::function<bool()>& ready) {
  const std::stop_callback wakes(stop, [this] { connection_->wake_waiting(); });
  auto waited = await(
      deadline, [&] { return stop.stop_requested() || ready(); }, "receiving from " + address_);
  if (!waited && waited.error().kind == FailureKind::timed_out) return {};
  return waited;
}

Result<void> ReceivingLink::await_first(Deadline deadline, const std::stop_token& stop) {
  return await_in_vain(deadline, stop, [&] { return !messages_.empty() || is_full(); });
}

Result<void> ReceivingLink::await_all(Deadline deadline, const std::stop_token& stop) {
  return await_in_vain(deadline, stop, [&] { return is_full(); });
}

Result<void> ReceivingLink::drain(Deadline deadline) {
  connection_->post([self = std::static_pointer_cast<ReceivingLink>(shared_from_this())] {
    if (self->link_ == nullptr) return;
    self->draining_ = true;
    if (pn_link_credit(self->link_) > 0) pn_link_drain(self->link_, 0);
    self->check_drained();
  });
  return await(
      deadline, [&] { return drained_; }, "receiving from " + address_);
}

// Until nothing has come for a while.
Result<void> ReceivingLink::await_quiet(Deadline deadline) {
  for (bool is_quiet = false; !is_quiet && !is_satisfied() && Clock::now() < deadline;) {
    const std::size_t before = connection_->locked([&] { return arrived_; });
    TRY_VOID(await_all(std::min(deadline, Clock::now() + quiet)));
    is_quiet = connection_->locked([&] { return arrived_ == before && !is_asking_; });
  }
  return {};
}

// False when the queue has no more: it was asked again and has sent nothing, although it may.
bool ReceivingLink::probe() {
  const bool is_open = connection_->locked([&] { return granted_ >= arrived_ && probed_ != arrived_; });
  if (!is_open) return false;
  connection_->post([self = std::static_pointer_cast<ReceivingLink>(shared_from_this())] {
    // The last ones may have come meanwhile, or it asks already because they have.
    if (self->link_ == nullptr || self->is_full() || self->is_asking_) return;
    self->probed_ = self->arrived_;
    self->ask(static_cast<int>(self->granted_ > self->arrived_ ? 1 : self->credit_wanted()));
  });
  return true;
}

Result<void> ReceivingLink::exhaust(Deadline deadline) {
  while (true) {
    TRY_VOID(await_quiet(deadline));
    const std::size_t before = connection_->locked([&] { return answers_; });
    if (is_satisfied() || Clock::now() >= deadline || !probe()) return {};
    TRY_VOID(await(
        deadline, [&] { return answers_ > before || is_full(); }, "receiving from " + address_));
  }
}

bool ReceivingLink::has_messages() const {
  return connection_->locked([&] { return !messages_.empty(); });
}

bool ReceivingLink::is_satisfied() const {
  return connection_->locked([&] { return is_full(); });
}

bool ReceivingLink::has_loose_ends() const {
  return connection_->locked([&] { return is_answered_ && std::max(granted_, arrived_) > taken_; });
}

std::vector<ReceivingLink::Incoming> ReceivingLink::take() {
  return connection_->locked([&] {
    is_taken_ = true;
    taken_ = messages_.size();
    return std::exchange(messages_, {});
  });
}

Result<void> ReceivingLink::settle(const std::vector<Incoming>& messages, const std::vector<Disposition>& dispositions,
                                   Deadline deadline) {
  std::vector<std::pair<pn_delivery_t*, Disposition>> settled;
  for (std::size_t i = 0; i < messages.size(); ++i) settled.emplace_back(messages[i].delivery, dispositions[i]);
  connection_->post([self = shared_from_this(), this, settled = std::move(settled)] {
    if (link_ == nullptr) return;
    for (const auto& [delivery, disposition] : settled) {
      pn_delivery_update(delivery, state_of(disposition));
      pn_delivery_settle(delivery);
    }
  });
  return close(deadline);
}

bool ReceivingLink::is_full() const {
  return is_taken_ || lacks_room_ || messages_.size() >= limits_.messages || bytes_ >= limits_.bytes;
}

// For the message that has come.
bool ReceivingLink::has_room() {
  if (!limits_.room || limits_.room(partial_.bytes.size())) return true;
  lacks_room_ = true;
  connection_->note_change();
  return false;
}

// As much as there is room for, if messages are like those that have come.
std::size_t ReceivingLink::credit_to_have() const {
  if (messages_.empty()) return first_credit;
  const std::size_t room = limits_.bytes - std::min(limits_.bytes, bytes_);
  return std::clamp<std::size_t>(room / std::max<std::size_t>(largest_, 1), 1, most_credit_);
}

std::size_t ReceivingLink::credit_wanted() const {
  return std::min(credit_to_have(), limits_.messages - std::min(limits_.messages, arrived_));
}

void ReceivingLink::give_credit() {
  const auto outstanding = static_cast<std::size_t>(std::max(0, pn_link_credit(link_)));
  const std::size_t wanted = credit_wanted();
  if (is_asking_ || probed_ || is_empty_ || is_full() || outstanding >= wanted) return;
  // Nor must a broker that drains, and gives back what is left, be told anything else meanwhile.
  if (outstanding > (is_answered_ || draining_ ? 0 : wanted / 2)) return;
  ask(static_cast<int>(wanted - outstanding));
}

void ReceivingLink::ask(int credit) {
  is_asking_ = is_answered_;
  granted_ += static_cast<std::size_t>(credit);
  if (draining_) {
    pn_link_drain(link_, credit);
  } else {
    pn_link_flow(link_, credit);
  }
}

// A broker that drains sends what it has. Credit that is left then comes back: the queue is empty. Proton knows that
// before we have looked at the last messages, if they came with it.
void ReceivingLink::check_drained() {
  if (!draining_ || drained_) return;
  is_empty_ |= pn_link_drained(link_) > 0;
  give_credit();
  if (pn_link_credit(link_) > 0) return;
  drained_ = true;
  connection_->note_change();
}

void ReceivingLink::on_flow() {
  if (std::exchange(is_asking_, false)) {
    ++answers_;
    connection_->note_change();
    give_credit();
  }
  check_drained();
}

// True when all of it is there.
bool ReceivingLink::read(pn_delivery_t* delivery) {
  const std::size_t pending = pn_delivery_pending(delivery);
  partial_.size += pending;
  const std::size_t before = partial_.bytes.size();
  partial_.bytes.resize(before + pending);
  if (pending > 0) pn_link_recv(link_, partial_.bytes.data() + before, pending);
  if (partial_.size > limits_.message_bytes || is_full()) std::vector<char>().swap(partial_.bytes);
  return !pn_delivery_partial(delivery);
}

void ReceivingLink::keep(pn_delivery_t* delivery) {
  partial_.delivery = delivery;
  bytes_ += partial_.bytes.size();
  largest_ = std::max(largest_, partial_.bytes.size());
  messages_.push_back(std::exchange(partial_, {}));
  pn_link_advance(link_);
  if (messages_.size() == 1 || is_full()) connection_->note_change();
}

void ReceivingLink::give_back(pn_delivery_t* delivery) {
  partial_ = {};
  if (is_answered_) {
    // As long as there is credit it would come again, and again.
    pn_link_advance(link_);
    return;
  }
  pn_delivery_update(delivery, PN_RELEASED);
  pn_delivery_settle(delivery);
}

void ReceivingLink::on_delivery(pn_delivery_t* delivery) {
  if (link_ == nullptr || pn_link_current(link_) != delivery) return;
  if (pn_delivery_aborted(delivery)) {
    partial_ = {};
    pn_delivery_settle(delivery);
  } else {
    if (!pn_delivery_readable(delivery) || !read(delivery)) return;
    if (is_full() || !has_room()) {
      give_back(delivery);
    } else {
      keep(delivery);
    }
  }
  ++arrived_;
  check_drained();
  give_credit();
}

}  // namespace postino::broker
