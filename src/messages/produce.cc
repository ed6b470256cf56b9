// Producing: what the broker has confirmed is recorded as it goes, so that no repeat sends it again.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <mutex>

#include "messages/answer_json.h"
#include "messages/execution.h"

namespace postino::messages {

class MessageService::Production {
 public:
  Production(MessageService& service, const ProduceRequest& request, const CallOptions& options)
      : service_(service), request_(request), options_(options), execution_(service, "PRODUCE", request, options) {}

  Result<Reply> run() {
    TRY(queue_, service_.options_.rights.name_of_queue(options_.tenant, request_.place, request_.queue));
    const auto found = service_.find_broker(request_.place);
    if (!found) return execution_.answer_or(found.error());
    const std::shared_ptr<broker::Broker>& broker = *found;
    TRY(const bool ours, execution_.begin());
    if (!ours) return Reply{std::move(execution_.record().response), true, 0};
    if (!execution_.reached(Step::begun)) return Execution::abandoned();
    started_ = service_.clock_.now();
    first_ = confirmed_before();
    const broker::ProduceReport report =
        broker->produce(queue_, messages(), produce_options(), [this](std::size_t prefix) { return note(prefix); });
    if (abandoned_) return Execution::abandoned();
    if (const std::size_t prefix = std::max(first_, report.prefix); prefix > 0)
      execution_.record().progress = std::to_string(prefix);
    if (fault_) return execution_.fail(*std::move(fault_));
    if (!report.complete()) return execution_.fail(fault_of_report(report));
    if (!execution_.reached(Step::produced)) return Execution::abandoned();
    return complete(report);
  }

 private:
  // What an execution before this one has recorded.
  std::size_t confirmed_before() {
    const std::string& progress = execution_.record().progress;
    std::size_t prefix = 0;
    std::from_chars(progress.data(), progress.data() + progress.size(), prefix);
    return std::min(prefix, request_.total);
  }

  broker::Messages messages() {
    return {request_.total, [this](std::size_t position) {
              broker::Message message = request_.messages[position % request_.messages.size()];
              message.id = execution_.message_id(position);
              message.reply_to = request_.reply_to;
              message.created_at = started_;
              return message;
            }};
  }

  broker::ProduceOptions produce_options() {
    broker::ProduceOptions options;
    options.first = first_;
    options.persistent = request_.persistent;
    options.time_to_live = request_.time_to_live;
    options.delay = request_.delay;
    options.window = request_.batch_size;
    options.connections = request_.concurrency;
    options.time_limit = service_.options_.produce_time;
    options.may_send = [this] { return may_send(); };
    return options;
  }

  // The first fault counts.
  bool stop_with(Fault fault) {
    const std::lock_guard lock(mutex_);
    if (!fault_) fault_ = std::move(fault);
    return false;
  }

  // False when another request has the execution, or that is not known. Several connections may ask at the same time.
  bool may_send() {
    auto confirmed = execution_.confirm();
    if (!confirmed)
      return stop_with(is_sending_ ? after_sending(std::move(confirmed).error()) : std::move(confirmed).error());
    is_sending_ = true;
    return true;
  }

  // False when there must be no more: another request has the execution, or it cannot be recorded.
  bool note(std::size_t prefix) {
    // The end of what is sent in one go is recorded with the answer, which comes next: that saves a commit.
    if (prefix < request_.total || request_.total > request_.batch_size) {
      if (auto noted = execution_.note_progress(std::to_string(prefix)); !noted)
        return stop_with(after_sending(std::move(noted).error()));
      abandoned_ = !execution_.reached(Step::progressed);
      if (prefix < request_.total && service_.stopping_.stop_requested()) return stop_with(Execution::stopped());
    }
    return !abandoned_;
  }

  // Messages are in the queue, also if it is sure that this could not be recorded.
  static Fault after_sending(Fault fault) {
    if (fault.kind == FaultKind::store) fault.kind = FaultKind::unknown;
    return fault;
  }

  Fault fault_of_report(const broker::ProduceReport& report) const {
    Fault fault = report.failure ? fault_of(*report.failure)
                                 : Fault{.kind = FaultKind::broker, .message = "not all messages were confirmed"};
    const auto rejected = std::ranges::find(report.states, broker::SendState::rejected);
    if (fault.kind != FaultKind::invalid || rejected == report.states.end()) return fault;
    const auto position = static_cast<std::size_t>(rejected - report.states.begin());
    fault.fields.push_back({json::element_path("messages", position % request_.messages.size()), fault.message});
    return fault;
  }

  Result<Reply> complete(const broker::ProduceReport& report) {
    AnswerHead head{.operation = "PRODUCE",
                    .key = request_.key,
                    .requested = request_.total,
                    .processed = request_.total,
                    .started = started_,
                    .completed = service_.clock_.now(),
                    .connection = service_.connections_.label(request_.place),
                    .queue = request_.queue};
    const ProduceOutcome outcome{.first_id = execution_.message_id(0),
                                 .last_id = execution_.message_id(request_.total - 1),
                                 .resumed_from = first_,
                                 .sent_again = report.sent_again};
    Reply reply{render_answer(head, outcome), false, request_.total - first_};
    if (auto done = execution_.complete(reply.body, ""); !done)
      return base::propagate(after_sending(std::move(done).error()));
    if (!execution_.reached(Step::completed)) return Execution::abandoned();
    return reply;
  }

  MessageService& service_;
  const ProduceRequest& request_;
  const CallOptions& options_;
  Execution execution_;
  std::string queue_;  // its name where it is
  base::TimePoint started_;
  std::size_t first_ = 0;
  std::atomic<bool> is_sending_ = false;
  std::mutex mutex_;
  std::optional<Fault> fault_;
  bool abandoned_ = false;
};

Result<Reply> MessageService::produce(const ProduceRequest& request, const CallOptions& options) {
  return count("produce", request, options, [&] { return Production(*this, request, options).run(); });
}

}  // namespace postino::messages
