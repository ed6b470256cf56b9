#include "app/client/message_transfer.h"

#include "app/client/answer_json.h"
#include "app/client/rest_problem.h"
#include "app/console/console.h"
#include "app/console/progress_bar.h"
#include "app/console/table_text.h"
#include "app/console/terminal_text.h"
#include "json/writer.h"
#include "messages/iso_duration.h"

namespace postino::app {

namespace {

constexpr std::chrono::seconds produce_wait{660};  // the server gives up after ten minutes
constexpr std::int64_t most_consumed = 10'000;     // in one call

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
  base::Result<void> call(const std::string& target, const std::string& body, const std::string& key,
                          std::chrono::seconds wait, json::Document& answer) {
    progress_.show(done_);
    TRY(net::HttpResponse response, client_.post_with_key(target, body, key, wait));
    if (response.status != 200) return base::propagate(describe_problem(response));
    body_ = std::move(response.body);
    TRY_VOID(parse_answer(answer, body_));
    done_ += number_of(answer.root(), "processedMessages");
    if (!options_.json) return {};
    progress_.clear();
    console_.print_foreign(body_);
    return {};
  }

  void print(const std::string& text) {
    progress_.clear();
    console_.out << text << std::flush;
  }

  int end(const base::Result<void>& going, const std::string& what) {
    progress_.clear();
    std::ostream& out = options_.json ? console_.errors : console_.out;
    if (!going) report_error(console_, going.error());
    if (going || done_ > 0) out << counted(done_, "message") << " " << what << "\n" << std::flush;
    if (going) return success;
    if (may_help_to_repeat(going.error()))
      console_.errors << "Repeat the command with --idempotency-key " << printable(options_.key)
                      << " to go on: what is done is not done twice.\n";
    return failure;
  }

  std::int64_t done() const { return done_; }

 private:
  RestClient& client_;
  const TransferOptions& options_;
  const Console& console_;
  ProgressBar progress_;
  std::string body_;
  std::int64_t done_ = 0;
};

std::string consumption_body(const Consumption& consumption, const std::string& key, std::int64_t count) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("idempotencyKey").string(key);
  if (!consumption.connection.empty()) json.key("connection").string(consumption.connection);
  json.key("target").begin_object().key("queueName").string(consumption.queue).end_object();
  json.key("settings").begin_object();
  json.key("maxMessages").integer(count);
  json.key("waitTimeout").string(messages::format_duration(consumption.wait));
  json.key("autoAcknowledge").boolean(consumption.acknowledge);
  json.end_object();
  json.end_object();
  return text;
}

void add_rows(TableText& table, json::Element answer) {
  for (const json::Element message : list_of(answer, "messages"))
    table.add({text_of(message, "messageId"), text_of(message, "format"), text_of(message, "body")});
}

}  // namespace

int produce_messages(RestClient& client, const MessageList& list, const TransferOptions& options,
                     const Console& console) {
  Transfer transfer(client, options, console, "producing", static_cast<std::int64_t>(list.total));
  base::Result<void> going;
  for (std::size_t next = 0; next < list.total && going;) {
    const MessageBatch batch = batch_at(list, next, options.key);
    json::Document answer;
    going = transfer.call("/messages/produce", batch.body, batch.key, produce_wait, answer);
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
    json::Document answer;
    going = transfer.call("/messages/consume", consumption_body(consumption, key, asked), key, wait, answer);
    // An answer may have less than the queue, but not nothing. What is only looked at would be seen again.
    more = consumption.acknowledge && consumption.max_messages > most_consumed && transfer.done() > done &&
           transfer.done() < consumption.max_messages;
    if (!going || options.json) continue;
    add_rows(table, answer.root());
    transfer.print(table.take());
  }
  return transfer.end(going, (consumption.acknowledge ? "consumed from " : "seen in ") + printable(consumption.queue));
}

}  // namespace postino::app
