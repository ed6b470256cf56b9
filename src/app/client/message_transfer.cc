#include "app/client/message_transfer.h"

#include "app/client/answer.h"
#include "app/console/console.h"
#include "app/console/progress_bar.h"
#include "app/console/table_text.h"
#include "app/console/terminal_text.h"
#include "messages/iso_duration.h"
#include "messages/request.h"

namespace postino::app {

namespace {

constexpr std::chrono::seconds produce_wait{660};                              // the server gives up after ten minutes
constexpr std::int64_t most_consumed = messages::RequestLimits::max_messages;  // in one call

// It may have been done, in part or as a whole.
bool may_help_to_repeat(const base::Error& error) {
  return error.code != base::ErrorCode::not_found && error.code != base::ErrorCode::invalid;
}

class Transfer {
 public:
  Transfer(RestClient& client, const TransferOptions& options, const Console& console, std::string label,
           std::int64_t total)
      : client_(client),
        options_(options),
        console_(console),
        progress_(console.errors, console.errors_columns, std::move(label), total) {}

  // The answer of a call, printed already where it is to be printed as it is.
  base::Result<Answer> call(OperationCall call, const std::string& key, std::chrono::seconds wait) {
    progress_.show(done_);
    const std::string_view operation = call.operation().id;
    TRY(const http::ClientResponse response, client_.send_with_key(std::move(call), key, wait));
    if (response.status != 200) return base::propagate(client_.describe(response));
    TRY(Answer answer, Answer::parse(operation, response.body));
    const std::int64_t count = answer.root().number("processedMessages");
    done_ += count;
    // Under a key of our own it is this command that has asked twice.
    if (options_.is_given && response.header("Idempotent-Replayed") == "true") done_before_ += count;
    if (options_.json) {
      progress_.clear();
      console_.print_foreign(response.body);
    }
    return answer;
  }

  void print(const std::string& text) {
    progress_.clear();
    console_.out << text << std::flush;
  }

  int end(const base::Result<void>& going, const std::string& what) {
    progress_.clear();
    std::ostream& out = options_.json ? console_.errors : console_.out;
    if (!going) report_error(console_, going.error());
    if (going || done_ > 0) {
      out << counted(done_, "message") << " " << what;
      if (done_before_ > 0) out << " (" << grouped(done_before_) << " by an earlier request)";
      out << "\n" << std::flush;
    }
    if (going) return success;
    if (may_help_to_repeat(going.error()))
      console_.errors << "Repeat the command with --idempotency-key " << printable(options_.key)
                      << " to continue: nothing is done twice.\n";
    return failure;
  }

  std::int64_t done() const { return done_; }

 private:
  RestClient& client_;
  const TransferOptions& options_;
  const Console& console_;
  ProgressBar progress_;
  std::int64_t done_ = 0;
  std::int64_t done_before_ = 0;  // of these
};

OperationCall consumption_call(const Consumption& consumption, const std::string& key, std::int64_t count) {
  OperationCall call("consumeMessages");
  RequestObject& body = call.body();
  body.set_text("idempotencyKey", key);
  if (!consumption.connection.empty()) body.set_text("connection", consumption.connection);
  body.set_text("target.queueName", consumption.queue);
  body.set_number("settings.maxMessages", count);
  body.set_text("settings.waitTimeout", messages::format_duration(consumption.wait));
  body.set_flag("settings.autoAcknowledge", consumption.acknowledge);
  return call;
}

void add_rows(TableText& table, const AnswerObject& answer) {
  for (const AnswerObject& message : answer.objects("messages"))
    table.add({message.text("messageId"), message.text("format"), message.text("body")});
}

}  // namespace

int produce_messages(RestClient& client, const MessageList& list, const TransferOptions& options,
                     const Console& console) {
  Transfer transfer(client, options, console, "producing", static_cast<std::int64_t>(list.total));
  base::Result<void> going;
  for (std::size_t next = 0; next < list.total && going;) {
    MessageBatch batch = batch_at(list, next, options.key);
    if (const auto answer = transfer.call(std::move(batch.call), batch.key, produce_wait); !answer)
      going = base::propagate(answer.error());
    next += batch.count;
  }
  return transfer.end(going, "produced to " + printable(list.queue));
}

int consume_messages(RestClient& client, const Consumption& consumption, const TransferOptions& options,
                     const Console& console) {
  Transfer transfer(client, options, console, "consuming", consumption.max_messages);
  // For the first message, and from then on for the others.
  const auto wait = std::chrono::duration_cast<std::chrono::seconds>(2 * consumption.wait) + std::chrono::seconds(60);
  TableText table({{"ID"}, {"FORMAT"}, {"BODY"}}, console.out_columns);
  base::Result<void> going;
  for (bool more = true; more && going;) {
    const std::int64_t done = transfer.done();
    const std::int64_t asked = std::min(consumption.max_messages - done, most_consumed);
    const std::string key = asked == consumption.max_messages ? options.key : options.key + "-" + std::to_string(done);
    const auto answer = transfer.call(consumption_call(consumption, key, asked), key, wait);
    if (!answer) going = base::propagate(answer.error());
    // An answer may have less than the queue, but not nothing. What is only looked at would be seen again.
    more = consumption.acknowledge && consumption.max_messages > most_consumed && transfer.done() > done &&
           transfer.done() < consumption.max_messages;
    if (!answer || options.json) continue;
    add_rows(table, answer->root());
    transfer.print(table.take());
  }
  return transfer.end(going, (consumption.acknowledge ? "consumed from " : "seen in ") + printable(consumption.queue));
}

}  // namespace postino::app
