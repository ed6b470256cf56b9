#include "app/client/email_summary.h"

#include "app/console/table_text.h"
#include "app/console/terminal_text.h"

namespace postino::app {

namespace {

// Labels on the left, what they stand for beside them. What has no value is left out.
class Summary {
 public:
  explicit Summary(const AnswerObject& email) : email_(email) {}

  void add(const char* label, const char* member) { line(label, email_.text(member)); }

  void line(const std::string& label, const std::string& value) {
    constexpr int label_columns = 14;
    if (!value.empty()) text_ += left_aligned(label, label_columns) + value + "\n";
  }

  std::string take() { return std::move(text_); }

 private:
  const AnswerObject& email_;
  std::string text_;
};

std::string joined(const std::vector<std::string>& parts, const char* separator) {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : separator) + part;
  return text;
}

std::string callback_of(const AnswerObject& callback) {
  const std::int64_t attempts = callback.number("attempts");
  return joined({callback.text("url"), counted(attempts, "attempt"), callback.flag("dead") ? "given up" : "",
                 callback.text("last_error")},
                "  ");
}

void add_recipients(Summary& summary, const AnswerObject& email) {
  const char* label = "to";
  for (const AnswerObject& recipient : email.objects("recipients")) {
    summary.line(label, joined({recipient.text("address"), recipient.text("status"), recipient.text("reply")}, "  "));
    label = "";
  }
}

void add_bounces(Summary& summary, const AnswerObject& email) {
  const char* label = "bounced";
  for (const AnswerObject& bounce : email.objects("bounces")) {
    summary.line(label, joined({bounce.text("at"), bounce.text("recipient"), bounce.text("status"),
                                bounce.flag("permanent") ? "permanent" : "temporary", bounce.text("diagnostic")},
                               "  "));
    label = "";
  }
}

std::string history_of(const AnswerObject& email, std::optional<int> columns) {
  TableText table({{"AT"}, {"STATUS"}, {"REASON"}}, columns);
  for (const AnswerObject& entry : email.objects("history"))
    table.add({entry.text("at"), entry.text("status"), entry.text("reason")});
  return table.take();
}

}  // namespace

std::string email_summary(const AnswerObject& email, std::optional<int> columns) {
  Summary summary(email);
  summary.add("id", "id");
  summary.line("status", email.text("status") + (email.flag("partly_sent") ? ", to some recipients only" : ""));
  summary.add("reason", "reason");
  if (email.flag("outcome_unknown")) summary.line("outcome", "unknown: the last reply of the mail server was lost");
  summary.add("held from", "held_from");
  summary.add("created", "created_at");
  summary.add("updated", "updated_at");
  summary.add("send at", "send_at");
  summary.add("next attempt", "next_attempt_at");
  summary.line("attempts", grouped(email.number("attempts")));
  summary.add("from", "from");
  summary.add("subject", "subject");
  add_recipients(summary, email);
  summary.line("tags", joined(email.texts("tags[]"), ", "));
  summary.add("tenant", "tenant");
  if (const auto callback = email.object("callback")) summary.line("callback", callback_of(*callback));
  add_bounces(summary, email);
  summary.add("payload", "payload_path");
  summary.add("message", "message_path");
  const std::string history = history_of(email, columns);
  return summary.take() + (history.empty() ? "" : "\n" + history);
}

}  // namespace postino::app
