// One call of the message service: its record, its lease, and its answer.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "messages/service.h"

namespace postino::messages {

class MessageService::Execution {
 public:
  Execution(MessageService& service, std::string_view operation, const Request& request, const CallOptions& options)
      : service_(service), operation_(operation), request_(request), options_(options) {}

  // Takes the execution, and keeps it for as long as this lives. Nothing when it is done already: then record() has the
  // answer. Fails when another request is at it, or the key was used for another request.
  Result<bool> begin();

  // The answer if it is done already, and otherwise why it cannot be.
  Result<Reply> answer_or(Fault fault);

  idempotency::Record& record() { return record_; }
  // Of an execution that is done already; its memory, if that was counted when it was read.
  std::string take_response() { return std::move(record_.response); }
  base::MemoryBudget::Share take_memory() { return std::move(memory_); }

  // Told at each step; false: ends here, as if the process had died.
  bool reached(Step step) const { return !service_.options_.on_step || service_.options_.on_step(step); }
  // There is no memory for the answer.
  static Fault no_room();
  static Fault stopped() { return {.kind = FaultKind::exhausted, .message = "the server is shutting down"}; }
  static tl::unexpected<Fault> abandoned() { return refuse(FaultKind::internal, "the execution was abandoned"); }

  // To be called before something is sent or received: a fault when another request has taken over meanwhile, because
  // this process was stopped for longer than its lease.
  Result<void> confirm();

  // Durable when they return. What they cannot write is a fault: in_progress when another request has taken over,
  // unknown when it may have been written.
  Result<void> note_progress(std::string progress);
  Result<void> complete(const std::string& body, std::string remains);
  // The record of a failure, for the next who tries, unless another request has taken over; returns the fault.
  tl::unexpected<Fault> fail(Fault fault);

  // Of the messages that it produces: the same however often it is executed.
  std::string message_id(std::size_t position);

 private:
  std::string scoped_key() const;
  Result<void> answered(const store::Answer<void>& written) const;

  MessageService& service_;
  const std::string operation_;
  const Request& request_;
  const CallOptions& options_;
  idempotency::Record record_;
  std::unique_ptr<idempotency::LeaseKeeper::Hold> lease_;
  base::MemoryBudget::Share memory_;
  std::unique_ptr<idempotency::Executions::Mark> mark_;  // this process executes it
  std::string id_prefix_;
};

}  // namespace postino::messages
