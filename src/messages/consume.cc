// Consuming: the answer, with the messages in it, is stored before the broker forgets them.
#include <algorithm>

#include "base/log.h"
#include "messages/answer_json.h"
#include "messages/execution.h"

namespace postino::messages {

namespace {

constexpr const char* unsettled = "unsettled";  // what remains of a completed record
// By then the broker knows that the receiver that held the messages is gone, and has given them out again.
constexpr base::Milliseconds look_for_returned = std::chrono::minutes(10);

}  // namespace

class MessageService::Consumption {
 public:
  Consumption(MessageService& service, const ConsumeRequest& request, const CallOptions& options)
      : service_(service), request_(request), execution_(service, "CONSUME", request, options) {}

  Result<Reply> run() {
    auto found = service_.connections_.find(request_.place);
    if (!found) return execution_.answer_or(found.error());
    broker_ = *std::move(found);
    TRY(const bool ours, execution_.begin());
    if (!ours) return replay();
    if (!execution_.reached(Step::begun)) return Execution::abandoned();
    started_ = service_.clock_.now();
    auto held = broker_->receive(request_.queue, {.max_messages = request_.max_messages,
                                                  .max_bytes = service_.options_.max_consumed_bytes,
                                                  .wait = request_.wait,
                                                  .linger = request_.wait,
                                                  .stop = service_.stopping_.get_token()});
    if (!held) return execution_.fail(fault_of(held.error()));
    // That nothing came is no answer when it was not waited for.
    if ((*held)->messages().empty() && service_.stopping_.stop_requested())
      return execution_.fail(Execution::stopped());
    if (!execution_.reached(Step::received)) return Execution::abandoned();
    return take(**held);
  }

 private:
  Result<Reply> take(broker::Held& held) {
    const std::vector<broker::Message>& messages = held.messages();
    std::vector<bool> taken;
    // What was too large to be kept is nothing to be answered, and must not be lost.
    for (const broker::Message& message : messages) taken.push_back(message.fault.empty() || !message.body.empty());
    const auto count = static_cast<std::size_t>(std::ranges::count(taken, true));
    const bool acknowledges = request_.auto_acknowledge && count > 0;

    Reply reply{render(messages, taken, count), false, count};
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
    for (const bool is_taken : taken)
      dispositions.push_back(is_taken ? broker::Disposition::acknowledge : broker::Disposition::release);
    const auto settled = held.settle(dispositions);
    log_unsettled(settled);
    if (!execution_.reached(Step::settled)) return Execution::abandoned();
    if (settled) note_settled();
    return reply;
  }

  std::string render(const std::vector<broker::Message>& messages, std::vector<bool> taken, std::size_t count) const {
    const AnswerHead head{.operation = "CONSUME",
                          .key = request_.key,
                          .requested = request_.max_messages,
                          .processed = count,
                          .started = started_,
                          .completed = service_.clock_.now(),
                          .connection = service_.connections_.label(request_.place),
                          .queue = request_.queue};
    return render_answer(head, ConsumeOutcome{messages, std::move(taken), request_.auto_acknowledge});
  }

  Result<Reply> replay() {
    const idempotency::Record& record = execution_.record();
    // As long as the lease lasts, the request that executed it may be about to settle them.
    if (record.progress == unsettled && record.lease_until <= service_.clock_.now()) settle_again();
    return Reply{execution_.record().response, true, 0};
  }

  // The process that executed it died, or lost the broker, before its messages were settled: what comes again is
  // acknowledged.
  void settle_again() {
    constexpr int rounds = 3;
    std::multiset<std::string> marks = marks_in(execution_.record().response);
    for (int round = 0; round < rounds && !marks.empty(); ++round) {
      auto held = broker_->receive(request_.queue, {.max_messages = marks.size()});
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
    if (marks.empty() || service_.clock_.now() - completed >= look_for_returned) note_settled();
  }

  void note_settled() {
    const auto noted = service_.retry_([&] { return service_.guard_.settle(execution_.record()); });
    // A request that asks again would only look for them once more.
    if (!noted && noted.error().type != store::ErrorType::conditional_check_failed)
      base::log_warning("messages", "the settlement of messages could not be recorded",
                        {{"queue", request_.queue}, {"cause", noted.error().message}});
  }

  void log_unsettled(const broker::Result<void>& settled) const {
    if (!settled)
      base::log_warning("messages", "messages could not be settled; the broker may deliver them again",
                        {{"queue", request_.queue}, {"cause", settled.error().message}});
  }

  MessageService& service_;
  const ConsumeRequest& request_;
  Execution execution_;
  std::shared_ptr<broker::Broker> broker_;
  base::TimePoint started_;
};

Result<Reply> MessageService::consume(const ConsumeRequest& request, const CallOptions& options) {
  return count("consume", request.queue, [&] { return Consumption(*this, request, options).run(); });
}

}  // namespace postino::messages
