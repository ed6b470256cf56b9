// Consuming: the answer, with the messages in it, is stored before the broker forgets them.
#include <algorithm>

#include "base/log.h"
#include "messages/answer_json.h"
#include "messages/execution.h"

namespace postino::messages {

namespace {

constexpr const char* unsettled = "unsettled";  // what remains of a completed record
// What a message takes until the answer is stored: as it was received, decoded, in the answer, and in its record.
constexpr std::size_t copies = 5;
constexpr std::size_t beside_content = 2 << 10;  // for each message
// By then the broker knows that the receiver that held the messages is gone, and has given them out again.
constexpr base::Milliseconds look_for_returned = std::chrono::minutes(10);

}  // namespace

class MessageService::Consumption {
 public:
  Consumption(MessageService& service, const ConsumeRequest& request, const CallOptions& options)
      : service_(service), request_(request), options_(options), execution_(service, "CONSUME", request, options) {}

  Result<Reply> run() {
    TRY(queue_, service_.options_.rights.name_of_queue(options_.tenant, request_.place, request_.queue));
    auto found = service_.find_broker(request_.place);
    if (!found) return execution_.answer_or(found.error());
    broker_ = *std::move(found);
    TRY(const bool ours, execution_.begin());
    if (!ours) return replay();
    if (!execution_.reached(Step::begun)) return Execution::abandoned();
    started_ = service_.clock_.now();
    if (service_.options_.answers) memory_ = service_.options_.answers->take(beside_content);
    bool lacks_room = service_.options_.answers && !memory_;
    if (lacks_room) return execution_.fail(Execution::no_room());
    if (auto confirmed = execution_.confirm(); !confirmed) return execution_.fail(std::move(confirmed).error());
    auto held = broker_->receive(queue_, {.max_messages = request_.max_messages,
                                          .max_bytes = service_.options_.max_consumed_bytes,
                                          .wait = request_.wait,
                                          .linger = request_.wait,
                                          .stop = service_.stopping_.get_token(),
                                          .room = [&](std::size_t bytes) {
                                            lacks_room = !has_room_for(bytes);
                                            return !lacks_room;
                                          }});
    if (!held) return execution_.fail(fault_of(held.error()));
    if ((*held)->messages().empty() && lacks_room) return execution_.fail(Execution::no_room());
    // That nothing came is no answer when it was not waited for.
    if ((*held)->messages().empty() && service_.stopping_.stop_requested())
      return execution_.fail(Execution::stopped());
    if (!execution_.reached(Step::received)) return Execution::abandoned();
    Result<Reply> reply = take(**held);
    held->reset();
    return reply ? with_memory(*std::move(reply)) : reply;
  }

 private:
  Result<Reply> take(broker::Held& held) {
    const std::vector<broker::Message>& messages = held.messages();
    std::vector<bool> taken;
    // What was too large to be kept is nothing to be answered, and must not be lost.
    for (const broker::Message& message : messages) taken.push_back(message.fault.empty() || !message.body.empty());
    const auto count = static_cast<std::size_t>(std::ranges::count(taken, true));
    const bool acknowledges = request_.auto_acknowledge && count > 0;

    const AnswerHead head = head_of(count);
    const ConsumeOutcome outcome{messages, std::move(taken), request_.auto_acknowledge};
    const std::size_t most_bytes = largest_size_of(head, outcome);
    if (!reserve(messages, most_bytes)) {
      log_unsettled(held.release());
      return execution_.fail(Execution::no_room());
    }
    Reply reply{render_answer(head, outcome, most_bytes), false, count};
    if (count > 0 && !held.are_kept()) {
      log_unsettled(held.release());
      return execution_.fail(not_kept());
    }
    if (auto done = execution_.complete(reply.body, acknowledges ? unsettled : ""); !done) {
      log_unsettled(held.release());
      return base::propagate(std::move(done).error());
    }
    if (!execution_.reached(Step::completed)) return Execution::abandoned();
    if (!acknowledges) {
      log_unsettled(held.release());
      return reply;
    }
    std::vector<broker::Disposition> dispositions;
    for (const bool is_taken : outcome.taken)
      dispositions.push_back(is_taken ? broker::Disposition::acknowledge : broker::Disposition::release);
    const auto settled = held.settle(dispositions);
    log_unsettled(settled);
    if (!execution_.reached(Step::settled)) return Execution::abandoned();
    if (settled) note_settled();
    return reply;
  }

  static Fault not_kept() {
    return {.kind = FaultKind::broker, .message = "the lease of the messages ended before the answer was stored"};
  }

  // A single message that is larger than all memory for answers must not stay at the front of its queue for good.
  bool has_room_for(std::size_t bytes) {
    if (!memory_) return true;
    const std::size_t needed = copies * bytes + beside_content;
    const bool is_first = memory_.bytes() == beside_content;
    return memory_.grow(needed) || (is_first && memory_.grow_alone(needed));
  }

  // For an answer that is larger than messages usually make it.
  bool reserve(const std::vector<broker::Message>& messages, std::size_t answer_bytes) {
    if (!memory_) return true;
    std::size_t needed = 2 * answer_bytes;  // with its record
    for (const broker::Message& message : messages) needed += 2 * message.body.size() + beside_content;
    if (needed <= memory_.bytes()) return true;
    const std::size_t more = needed - memory_.bytes();
    return memory_.grow(more) || (messages.size() == 1 && memory_.grow_alone(more));
  }

  // All else that was reserved has been freed.
  Reply with_memory(Reply reply) {
    if (!memory_) return reply;
    memory_.shrink_to(reply.body.size());
    reply.memory = std::make_shared<base::MemoryBudget::Share>(std::move(memory_));
    return reply;
  }

  AnswerHead head_of(std::size_t count) const {
    return {.operation = "CONSUME",
            .key = request_.key,
            .requested = request_.max_messages,
            .processed = count,
            .started = started_,
            .completed = service_.clock_.now(),
            .connection = service_.connections_.label(request_.place),
            .queue = request_.queue};
  }

  Result<Reply> replay() {
    const idempotency::Record& record = execution_.record();
    // As long as the lease lasts, the request that executed it may be about to settle them.
    if (record.progress == unsettled && record.lease_until <= service_.guard_.clock().now()) settle_again();
    memory_ = execution_.take_memory();
    if (service_.options_.answers && !memory_) memory_ = service_.options_.answers->take(record.response.size());
    if (service_.options_.answers && !memory_) return base::propagate(Execution::no_room());
    return with_memory(Reply{execution_.take_response(), true, 0});
  }

  // The process that executed it died, or lost the broker, before its messages were settled: what comes again is
  // acknowledged.
  void settle_again() {
    constexpr int rounds = 3;
    std::multiset<std::string> marks = marks_in(execution_.record().response);
    for (int round = 0; round < rounds && !marks.empty(); ++round) {
      auto held = broker_->receive(queue_, {.max_messages = marks.size()});
      if (!held) return log_unsettled(base::propagate(held.error()));
      std::vector<broker::Disposition> dispositions;
      bool found = false;
      for (const broker::Message& message : (*held)->messages()) {
        const auto known = marks.find(mark_of(message));
        const bool is_known = known != marks.end();
        if (is_known) marks.erase(known);
        found |= is_known;
        dispositions.push_back(is_known ? broker::Disposition::acknowledge : broker::Disposition::release);
      }
      if (const auto settled = (*held)->settle(dispositions); !settled && !dispositions.empty())
        return log_unsettled(settled);
      if (!found) break;
    }
    const base::TimePoint completed = execution_.record().updated_at;
    if (marks.empty() || service_.guard_.clock().now() - completed >= look_for_returned) note_settled();
  }

  void note_settled() {
    const auto noted = service_.retry_([&] { return service_.guard_.settle(execution_.record()); });
    // A request that asks again would only look for them once more.
    if (!noted && noted.error().type != store::ErrorType::conditional_check_failed)
      base::log_warning("messages", "the settlement of messages could not be recorded",
                        {{"queue", queue_}, {"cause", noted.error().message}});
  }

  void log_unsettled(const broker::Result<void>& settled) const {
    if (!settled)
      base::log_warning("messages", "messages could not be settled; the broker may deliver them again",
                        {{"queue", queue_}, {"cause", settled.error().message}});
  }

  MessageService& service_;
  const ConsumeRequest& request_;
  const CallOptions& options_;
  Execution execution_;
  std::string queue_;  // its name where it is
  std::shared_ptr<broker::Broker> broker_;
  base::TimePoint started_;
  base::MemoryBudget::Share memory_;  // for what is received and the answer; empty: without limit
};

Result<Reply> MessageService::consume(const ConsumeRequest& request, const CallOptions& options) {
  return count("consume", request, options, [&] { return Consumption(*this, request, options).run(); });
}

}  // namespace postino::messages
