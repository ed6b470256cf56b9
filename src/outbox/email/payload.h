// An e-mail as callers hand it in, checked: the JSON of POST /emails, and of the payload in the spool.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "json/fields.h"
#include "mail/content_type.h"
#include "mail/message.h"

namespace postino::outbox {

// Limits that a payload is held to.
struct PayloadLimits {
  static constexpr std::size_t recipients = 100;       // to, cc and bcc together
  static constexpr std::size_t address_bytes = 1'000;  // with the name
  static constexpr std::size_t display_name_bytes = mail::longest_mailbox_name;
  static constexpr std::size_t subject_bytes = 2'000;
  static constexpr std::size_t body_bytes = 10 << 20;  // of each body
  static constexpr std::size_t attachments = 50;
  static constexpr std::size_t inline_bytes = 35 << 20;  // of one inline attachment, in base64
  static constexpr std::size_t attachment_path_bytes = 4'096;
  static constexpr std::size_t attachment_name_bytes = mail::longest_attachment_name;
  static constexpr std::size_t content_type_bytes = mail::longest_content_type;
  static constexpr std::size_t content_type_half_bytes = mail::longest_type_half;
  static constexpr std::size_t headers = 50;
  static constexpr std::size_t header_name_bytes = mail::longest_header_name;
  static constexpr std::size_t header_bytes = 8'000;
  static constexpr std::size_t tags = 20;
  static constexpr std::size_t tag_bytes = 64;
  static constexpr std::size_t unsubscribe_bytes = mail::longest_unsubscribe_url;
  static constexpr base::Milliseconds ahead = std::chrono::hours(24 * 366);  // how far away send_at may be
};

// Either a file below the configured base path, or the content itself.
struct PayloadAttachment {
  std::string path;
  std::string name;            // for a file by default the last part of its path
  std::string content_type;    // empty: found out
  std::string content_base64;  // when it is inline
  bool is_inline = false;

  friend bool operator==(const PayloadAttachment&, const PayloadAttachment&) = default;
};

struct Payload {
  std::string id;  // empty: to be given
  mail::Mailbox from;
  std::optional<mail::Mailbox> reply_to;
  std::vector<mail::Mailbox> to;
  std::vector<mail::Mailbox> cc;
  std::vector<mail::Mailbox> bcc;
  std::string subject;
  std::string body_text;
  std::string body_html;
  std::vector<PayloadAttachment> attachments;
  std::vector<std::pair<std::string, std::string>> custom_headers;
  std::optional<base::TimePoint> send_at;
  std::string callback_url;
  std::vector<std::string> tags;
  std::string unsubscribe_url;
  std::string unsubscribe_mailto;
};

// Has it the form of an e-mail's id?
bool is_uuid(std::string_view text);
// One that is the same for the same text (version 8: ours to define).
std::string derived_uuid(std::string_view text);
// Has it the form of such a one?
bool is_derived_uuid(std::string_view id);

// Notes every rule that is broken, with the path of the field ("data[2].to[0]"); nullopt when there is any.
std::optional<Payload> read_payload(json::Element element, const std::string& path, base::TimePoint now,
                                    json::FieldErrors& errors);
// The same from a text of its own. The error joins the notes. send_at may be in the past and as far away as it likes.
base::Result<Payload> parse_payload(std::string_view text);

std::string to_json(const Payload& payload);

}  // namespace postino::outbox
