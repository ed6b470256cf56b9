#include "outbox/transport/webhook.h"

#include "base/base64.h"
#include "base/hash.h"
#include "base/timestamp.h"
#include "json/writer.h"

namespace postino::outbox {

namespace {

// Who of them the mail server took it for, and what became of the others.
void write_recipients(json::Writer& writer, const std::vector<Recipient>& recipients) {
  writer.key("recipients").begin_array();
  for (const Recipient& recipient : recipients) {
    writer.begin_object();
    writer.key("address").string(recipient.address);
    writer.key("status").string(name_of(recipient.state));
    if (!recipient.reply.empty()) writer.key("reply").string(recipient.reply);
    writer.end_object();
  }
  writer.end_array();
}

void write_tags(json::Writer& writer, const std::vector<std::string>& tags) {
  writer.key("tags").begin_array();
  for (const std::string& tag : tags) writer.string(tag);
  writer.end_array();
}

}  // namespace

std::string webhook_body(const Email& email) {
  std::string body;
  json::Writer writer(body);
  writer.begin_object();
  writer.key("code").string(email.state == State::calling_sent ? "TRAVELING" : "DISPATCH-ERROR");
  writer.key("reached_at").string(base::format_timestamp(email.settled_at.value_or(email.updated_at)));
  writer.key("message_ids").begin_array().string(email.id).end_array();
  writer.key("reason").string(public_reason(email));
  if (is_partly_sent(email)) {
    writer.key("partly_sent").boolean(true);
    write_recipients(writer, email.recipients);
  }
  if (!email.tags.empty()) write_tags(writer, email.tags);
  writer.end_object();
  return body;
}

std::string webhook_id(const Email& email) {
  return email.id + "-" + std::to_string(base::epoch_milliseconds(email.settled_at.value_or(email.created_at)));
}

base::Result<WebhookSigner> WebhookSigner::create(const std::string& secret) {
  constexpr std::string_view prefix = "whsec_";
  if (secret.empty()) return WebhookSigner("");
  auto key = secret.starts_with(prefix) ? base::from_base64(secret.substr(prefix.size()))
                                        : base::Result<std::string>(base::invalid(""));
  if (!key || key->size() < 24 || key->size() > 64)
    return base::invalid("must be whsec_ and the base64 of 24 to 64 bytes");
  return WebhookSigner(std::move(*key));
}

std::vector<std::pair<std::string, std::string>> WebhookSigner::headers(const std::string& id, base::TimePoint now,
                                                                        const std::string& body) const {
  const std::string timestamp = std::to_string(base::epoch_seconds(now));
  std::vector<std::pair<std::string, std::string>> headers{{"webhook-id", id}, {"webhook-timestamp", timestamp}};
  if (!key_.empty())
    headers.emplace_back("webhook-signature",
                         "v1," + base::to_base64(base::hmac_sha256(key_, id + "." + timestamp + "." + body)));
  return headers;
}

}  // namespace postino::outbox
