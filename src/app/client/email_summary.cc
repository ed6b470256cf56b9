#include "app/client/email_summary.h"

#include "app/client/answer_json.h"
#include "app/console/table_text.h"
#include "app/console/terminal_text.h"

namespace postino::app {

namespace {

// Labels on the left, what they stand for beside them. What has no value is left out.
class Summary {
 public:
  explicit Summary(json::Element email) : email_(email) {}

  void add(const char* label, const char* member) { line(label, text_of(email_, member)); }

  void line(const std::string& label, const std::string& value) {
    constexpr int label_columns = 14;
    if (!value.empty()) text_ += left_aligned(label, label_columns) + value + "\n";
  }

  std::string take() { return std::move(text_); }

 private:
  const json::Element email_;
  std::string text_;
};

std::string joined(const std::vector<std::string>& parts, const char* separator) {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : separator) + part;
  return text;
}

std::string tags_of(json::Element email) {
  std::vector<std::string> tags;
  for (const json::Element tag : list_of(email, "tags")) tags.push_back(text_of(tag));
  return joined(tags, ", ");
}

std::string callback_of(json::Element callback) {
  const std::int64_t attempts = number_of(callback, "attempts");
  return joined({text_of(callback, "url"), counted(attempts, "attempt"), flag_of(callback, "dead") ? "given up" : "",
                 text_of(callback, "last_error")},
                "  ");
}

void add_recipients(Summary& summary, json::Element email) {
  const char* label = "to";
  for (const json::Element recipient : list_of(email, "recipients")) {
    summary.line(
        label,
        joined({text_of(recipient, "address"), text_of(recipient, "status"), text_of(recipient, "reply")}, "  "));
    label = "";
  }
}

void add_bounces(Summary& summary, json::Element email) {
  const char* label = "bounced";
  for (const json::Element bounce : list_of(email, "bounces")) {
    summary.line(label,
                 joined({text_of(bounce, "at"), text_of(bounce, "recipient"), text_of(bounce, "status"),
                         flag_of(bounce, "permanent") ? "permanent" : "temporary", text_of(bounce, "diagnostic")},
                        "  "));
    label = "";
  }
}

std::string history_of(json::Element email, std::optional<int> columns) {
  TableText table({{"AT"}, {"STATUS"}, {"REASON"}}, columns);
  for (const json::Element entry : list_of(email, "history"))
    table.add({text_of(entry, "at"), text_of(entry, "status"), text_of(entry, "reason")});
  return table.take();
}

}  // namespace

std::string email_summary(json::Element email, std::optional<int> columns) {
  Summary summary(email);
  summary.add("id", "id");
  summary.add("status", "status");
  summary.add("reason", "reason");
  if (flag_of(email, "outcome_unknown"))
    summary.line("outcome", "unknown: the server's answer to the message was lost");
  summary.add("held from", "held_from");
  summary.add("created", "created_at");
  summary.add("updated", "updated_at");
  summary.add("send at", "send_at");
  summary.add("next attempt", "next_attempt_at");
  summary.line("attempts", grouped(number_of(email, "attempts")));
  summary.add("from", "from");
  add_recipients(summary, email);
  summary.line("tags", tags_of(email));
  summary.add("tenant", "tenant");
  if (const auto callback = email.member("callback")) summary.line("callback", callback_of(*callback));
  add_bounces(summary, email);
  summary.add("payload", "payload_path");
  summary.add("message", "message_path");
  const std::string history = history_of(email, columns);
  return summary.take() + (history.empty() ? "" : "\n" + history);
}

}  // namespace postino::app
