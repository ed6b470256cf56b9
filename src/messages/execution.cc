#include "messages/execution.h"

#include "base/hash.h"
#include "base/log.h"
#include "store/retry.h"

namespace postino::messages {

namespace {

// Keys are ASCII, so that no key contains it.
constexpr std::string_view scope_separator = "\u00B7";

}  // namespace

std::string MessageService::Execution::scoped_key() const {
  if (options_.scope.empty()) return request_.key;
  return std::string(options_.scope).append(scope_separator).append(request_.key);
}

Fault MessageService::Execution::no_room() {
  Fault fault{.kind = FaultKind::exhausted,
              .message = "too many answers have not been taken by their clients; try again in a moment"};
  fault.retry_after = base::Milliseconds(1'000);
  return fault;
}

Result<bool> MessageService::Execution::begin() {
  using idempotency::KeyState;
  const std::string owner = service_.guard_.new_owner();
  auto begun = service_.retry_(
      [&] { return service_.guard_.begin(operation_, scoped_key(), request_.hash, options_.life, owner); });
  if (!begun) return base::propagate(fault_of(begun.error()));
  record_ = std::move(begun->record);
  memory_ = std::move(begun->memory);
  mark_ = std::move(begun->mark);
  switch (begun->state) {
    case KeyState::execute:
      lease_ = service_.leases_.hold(record_);
      return true;
    case KeyState::replay:
      return false;
    case KeyState::in_progress: {
      Fault fault{.kind = FaultKind::in_progress, .message = "an execution with this idempotency key is in progress"};
      fault.retry_after = base::Milliseconds(1'000);
      return base::propagate(std::move(fault));
    }
    case KeyState::no_room:
      return base::propagate(no_room());
    case KeyState::unreadable:
      return refuse(FaultKind::unreadable_key, "the record of the idempotency key cannot be read: " + begun->fault);
    case KeyState::other_request:
      break;
  }
  return refuse(FaultKind::other_request, "the idempotency key was used for another request");
}

Result<Reply> MessageService::Execution::answer_or(Fault fault) {
  auto looked = service_.retry_([&] { return service_.guard_.look(operation_, scoped_key(), request_.hash); });
  if (!looked || looked->state != idempotency::KeyState::replay) return base::propagate(std::move(fault));
  Reply reply{std::move(looked->record.response), true, 0};
  if (looked->memory) reply.memory = std::make_shared<base::MemoryBudget::Share>(std::move(looked->memory));
  return reply;
}

Result<void> MessageService::Execution::answered(const store::Answer<void>& written) const {
  if (written) return {};
  if (written.error().type == store::ErrorType::conditional_check_failed)
    return refuse(FaultKind::in_progress, "the execution was taken over by another one, because its lease had expired");
  Fault fault = fault_of(written.error());
  if (store::as_error(written.error()).code == base::ErrorCode::io) fault.kind = FaultKind::unknown;
  return base::propagate(std::move(fault));
}

Result<void> MessageService::Execution::confirm() {
  return answered(service_.retry_([&] { return lease_->confirm(); }));
}

Result<void> MessageService::Execution::note_progress(std::string progress) {
  record_.progress = std::move(progress);
  return answered(service_.retry_([&] { return service_.guard_.note_progress(record_); }));
}

Result<void> MessageService::Execution::complete(const std::string& body, std::string remains) {
  auto done = answered(service_.retry_([&] { return service_.guard_.complete(record_, body, remains); }));
  lease_.reset();
  return done;
}

tl::unexpected<Fault> MessageService::Execution::fail(Fault fault) {
  lease_.reset();
  // Of one that another request has there is nothing to record.
  if (fault.kind == FaultKind::in_progress) return base::propagate(std::move(fault));
  const auto failed = service_.retry_([&] { return service_.guard_.fail(record_); });
  // The lease ends, and the key is free then as well.
  if (!failed)
    base::log_warning("messages", "a failure could not be recorded",
                      {{"operation", operation_}, {"cause", failed.error().message}});
  return base::propagate(std::move(fault));
}

std::string MessageService::Execution::message_id(std::size_t position) {
  constexpr std::size_t digits = 32;
  if (id_prefix_.empty())
    id_prefix_ = base::to_hex(base::sha256(scoped_key() + "\n" + request_.hash)).substr(0, digits) + "-";
  return id_prefix_ + std::to_string(position);
}

}  // namespace postino::messages
