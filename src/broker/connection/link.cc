#include "broker/connection/link.h"

#include <proton/condition.h>
#include <proton/delivery.h>
#include <proton/event.h>
#include <proton/link.h>
#include <proton/session.h>

#include <atomic>

namespace postino::broker {

Result<void> Link::await(Deadline deadline, const std::function<bool()>& ready, std::string_view what) {
  TRY_VOID(connection_->await(
      deadline, [&] { return failure_ || ready(); }, what));
  return connection_->locked([&]() -> Result<void> {
    if (failure_) return tl::unexpected(*failure_);
    return {};
  });
}

Result<void> Link::await_open(Deadline deadline) {
  return await(
      deadline, [&] { return state_ == State::open; }, "opening " + address_);
}

Result<void> Link::close(Deadline deadline) {
  connection_->post([self = shared_from_this()] {
    self->closing_ = true;
    if (self->link_ != nullptr) pn_link_close(self->link_);
  });
  return await(
      deadline, [&] { return state_ == State::closed; }, "closing " + address_);
}

void Link::start(pn_session_t* session) {
  // Two links of a connection must not have the same name.
  static std::atomic<std::uint64_t> number = 0;
  link_ = make(session, ("postino-" + std::to_string(++number)).c_str());
  pn_link_set_context(link_, this);
  pn_link_open(link_);
}

void Link::on_remote_end() {
  if (!closing_) {
    failure_ = to_failure(pn_link_remote_condition(link_), FailureKind::lost, "the broker closed " + address_);
    pn_link_close(link_);
  }
  state_ = State::closed;
  connection_->note_change();
  pn_link_set_context(link_, nullptr);
  pn_link_free(link_);
  link_ = nullptr;
  connection_->forget(this);
}

void Link::handle(pn_event_t* event) {
  switch (pn_event_type(event)) {
    case PN_LINK_REMOTE_OPEN:
      // A broker that refuses attaches nothing, and says why when it closes the link right after that.
      if (!is_attached()) break;
      state_ = State::open;
      on_open();
      connection_->note_change();
      break;
    case PN_LINK_REMOTE_CLOSE:
    case PN_LINK_REMOTE_DETACH:
      on_remote_end();
      break;
    case PN_LINK_FLOW:
      on_flow();
      break;
    case PN_DELIVERY:
      on_delivery(pn_event_delivery(event));
      break;
    default:
      break;
  }
}

}  // namespace postino::broker
