#include "reminders/record/reminder_mail.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "mail/address.h"
#include "reminders/text/template_text.h"

namespace postino::reminders {

std::string reminder_email_id(const std::string& tenant, const std::string& draft_id, int revision) {
  return outbox::derived_uuid("payment reminder\n" + tenant + "\n" + draft_id + "\n" + std::to_string(revision));
}

namespace {

std::vector<std::string> tags_of(const SentReminder& sent) {
  constexpr std::size_t part = outbox::PayloadLimits::tag_bytes - customer_tag_begin.size();
  std::vector<std::string> tags = {std::string(reminder_tag), sent.reminder_type};
  for (std::string_view rest = sent.customer_id; !rest.empty();) {
    std::size_t end = std::min(part, rest.size());
    // Whole characters.
    while (end > 1 && end < rest.size() && !base::starts_character(rest[end])) --end;
    tags.push_back(std::string(customer_tag_begin).append(rest.substr(0, end)));
    rest.remove_prefix(end);
  }
  return tags;
}

}  // namespace

std::string customer_in_tags(const std::vector<std::string>& tags) {
  std::string id;
  for (const std::string& tag : tags)
    if (tag.starts_with(customer_tag_begin)) id += tag.substr(customer_tag_begin.size());
  return id;
}

base::Result<outbox::Payload> make_payload(const SentReminder& sent, const std::string& from,
                                           const std::string& reply_to) {
  outbox::Payload payload;
  payload.id = sent.email_id;
  auto sender = mail::parse_mailbox(from);
  if (!sender) return base::invalid("from " + sender.error().message);
  payload.from = *std::move(sender);
  auto to = mail::parse_mailbox(sent.customer_email);
  if (!to) return base::invalid("customer_email " + to.error().message);
  to->name = written_value(sent.customer_name, TextKind::line);
  payload.to = {*std::move(to)};
  if (!reply_to.empty()) {
    auto answers = mail::parse_mailbox(reply_to);
    if (!answers) return base::invalid("reply_to " + answers.error().message);
    payload.reply_to = *std::move(answers);
  }
  payload.subject = sent.text.subject;
  payload.body_text = sent.text.body;
  payload.body_html = sent.text.html;
  payload.tags = tags_of(sent);
  // The rules for e-mails of all callers hold here, too. A name that breaks them is left out: it is a courtesy.
  if (auto checked = outbox::parse_payload(outbox::to_json(payload))) return *std::move(checked);
  payload.to.front().name.clear();
  auto checked = outbox::parse_payload(outbox::to_json(payload));
  if (!checked) return base::invalid("the draft cannot be an e-mail: " + checked.error().message);
  return *std::move(checked);
}

}  // namespace postino::reminders
