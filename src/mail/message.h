// A message as people think of it, and its making into the bytes that SMTP carries.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "mail/address.h"

namespace postino::mail {

inline constexpr std::size_t longest_attachment_name = 255;
inline constexpr std::size_t longest_header_name = 76;
inline constexpr std::size_t longest_unsubscribe_url = 900;  // it cannot be folded

struct Attachment {
  std::string name;          // shown to the reader; no path
  std::string content_type;  // empty: told from the content, then from the name
  std::string bytes;
};

struct ListUnsubscribe {
  std::string url;     // https, for one click (RFC 8058)
  std::string mailto;  // an address; either may be empty
};

struct Message {
  Mailbox from;
  std::optional<Mailbox> reply_to;  // left out when it is the same as from
  std::vector<Mailbox> to;
  std::vector<Mailbox> cc;  // those of bcc are in the envelope alone
  std::string subject;
  std::string text;  // at least one of both
  std::string html;  // images in data: URLs become parts of their own
  std::vector<Attachment> attachments;
  std::vector<std::pair<std::string, std::string>> headers;  // further ones: check_header
  std::optional<ListUnsubscribe> list_unsubscribe;
  std::string message_id;  // without angle brackets
  base::TimePoint date;
};

// Lines end with CRLF, none is longer than 998 bytes, everything is ASCII. Equal messages give equal bytes: boundaries
// and Content-IDs come from the message_id. invalid, with the rule, when it cannot be made.
base::Result<std::string> build_message(const Message& message);

// May the caller add this header? Not those that build_message writes or that belong to the way of the message
// (Received, Return-Path, DKIM-Signature, Bcc, ...); nothing that could end a line.
base::Result<void> check_header(const std::string& name, const std::string& value);

}  // namespace postino::mail
