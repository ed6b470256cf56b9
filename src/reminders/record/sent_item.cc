#include "reminders/record/sent_item.h"

#include <algorithm>
#include <array>
#include <utility>

#include "reminders/record/item_fields.h"
#include "reminders/record/reminder_fields.h"

namespace postino::reminders {

namespace {

constexpr std::array<std::pair<DeliveryStatus, std::string_view>, 6> delivery_statuses = {{
    {DeliveryStatus::queued, "queued"},
    {DeliveryStatus::sent, "sent"},
    {DeliveryStatus::failed, "failed"},
    {DeliveryStatus::bounced, "bounced"},
    {DeliveryStatus::cancelled, "cancelled"},
    {DeliveryStatus::unknown, "unknown"},
}};

// Other programs have words of their own. What is not known to have failed counts as sent: a reminder too few does less
// harm than one too many.
DeliveryStatus delivery_of(const std::string& delivery, const std::string& status) {
  const auto* const found =
      std::ranges::find(delivery_statuses, delivery, &std::pair<DeliveryStatus, std::string_view>::second);
  // What we do not know to have failed has the status sent.
  const bool is_foreign =
      found != delivery_statuses.end() && found->first == DeliveryStatus::unknown && status == "failed";
  if (found != delivery_statuses.end() && !is_foreign) return found->first;
  if (delivery == "bounce") return DeliveryStatus::bounced;
  return status == "failed" ? DeliveryStatus::failed : DeliveryStatus::sent;
}

}  // namespace

std::string_view name_of(DeliveryStatus status) {
  return std::ranges::find(delivery_statuses, status, &std::pair<DeliveryStatus, std::string_view>::first)->second;
}

item::Item sent_item(const Keys& keys, const SentReminder& sent) {
  const std::string_view status = sent.counts() ? "sent" : "failed";
  item::Item item = Keys::key(keys.customer(sent.customer_id), std::string(sent_begin) + sent.id);
  item.set("GSI1PK", keys.status(status, sent.customer_id + sent.id));
  item.set("GSI1SK", seed_time(sent.sent_at));
  set_reminder_fields(item, sent);
  item.set("status", status);
  item.set("sent_date", seed_time(sent.sent_at));
  item.set("sent_at_ms", base::epoch_milliseconds(sent.sent_at));
  set_text(item, "approved_by", sent.approved_by);
  set_text(item, "ses_message_id", sent.message_id);
  set_text(item, "message_id", sent.message_id);
  item.set("delivery_status", name_of(sent.delivery));
  set_text(item, "email_id", sent.email_id);
  set_text(item, "failure", sent.failure);
  set_moment(item, "delivered_at_ms", sent.delivered_at);
  set_text(item, "draft_id", sent.draft_id);
  set_count(item, "revision", sent.revision);
  item.set("version", sent.version);
  set_moment(item, "erased_at_ms", sent.erased_at);
  item.set(std::string(ttl_attribute), base::epoch_seconds(sent.sent_at + sent_life));
  return item;
}

base::Result<SentReminder> read_sent(const item::Item& item, const std::string& usual_currency) {
  constexpr std::size_t time_length = 15;
  ItemFields fields(item);
  SentReminder sent;
  sent.id = fields.sort_after(sent_begin);
  const auto of_key = parse_key_time(std::string_view(sent.id).substr(0, std::min(time_length, sent.id.size())));
  sent.customer_id = fields.text("customer_id");
  const std::string partition = fields.text("PK");
  if (const std::size_t begin = partition.find("CUSTOMER#"); sent.customer_id.empty() && begin != std::string::npos)
    sent.customer_id = partition.substr(begin + std::string_view("CUSTOMER#").size());
  read_reminder_fields(fields, sent, usual_currency);
  if (sent.reminder_type.empty() && of_key && sent.id.size() > time_length + 1)
    sent.reminder_type = sent.id.substr(time_length + 1);
  const auto sent_at = fields.time_of_record("sent_at_ms", "sent_date", of_key);
  sent.approved_by = fields.text("approved_by");
  sent.email_id = fields.text("email_id");
  sent.message_id = fields.text("message_id");
  if (sent.message_id.empty()) sent.message_id = fields.text("ses_message_id");
  sent.erased_at = fields.moment("erased_at_ms");
  const std::string delivery = fields.text("delivery_status");
  sent.delivery = delivery_of(delivery, fields.text("status"));
  if (delivery != name_of(sent.delivery)) sent.delivery_word = delivery;
  sent.failure = fields.text("failure");
  sent.delivered_at = fields.moment("delivered_at_ms");
  sent.draft_id = fields.text("draft_id");
  sent.revision = fields.count("revision");
  sent.version = fields.whole("version");
  TRY_VOID(fields.check());
  if (!sent_at)
    return base::fail(base::ErrorCode::corrupt,
                      "the record " + key_text(item) + " cannot be read: neither sent_date nor SK tells the time");
  sent.sent_at = *sent_at;
  return sent;
}

}  // namespace postino::reminders
