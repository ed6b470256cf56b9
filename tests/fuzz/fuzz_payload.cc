// The JSON of an e-mail as callers hand it in; what is accepted can be made into a message, and none of it breaks out.
#include "base/check.h"
#include "mail/address.h"
#include "mail/message.h"
#include "outbox/email/payload.h"
#include "targets.h"

namespace postino::fuzz {

namespace {

// Every line of the header is a header we know, one that was asked for, or the rest of the one before.
void check_header(const std::string& bytes, const outbox::Payload& payload) {
  const std::size_t end = bytes.find("\r\n\r\n");
  CHECK(end != std::string::npos);
  std::size_t lines = 0;
  for (std::size_t begin = 0; begin < end; begin = bytes.find("\r\n", begin) + 2) {
    const std::size_t line_end = bytes.find("\r\n", begin);
    CHECK(line_end - begin <= 998);
    if (bytes[begin] == ' ' || bytes[begin] == '\t') continue;
    CHECK(bytes.substr(begin, line_end - begin).find(':') != std::string::npos);
    ++lines;
  }
  // From, Reply-To, To, Cc, Subject, Date, Message-ID, MIME-Version, two List-Unsubscribe, three Content-...
  CHECK(lines <= payload.custom_headers.size() + 13);
}

void check_built_message(const outbox::Payload& payload) {
  mail::Message message;
  message.from = payload.from;
  message.reply_to = payload.reply_to;
  message.to = payload.to;
  message.cc = payload.cc;
  message.subject = payload.subject;
  message.text = payload.body_text;
  message.html = payload.body_html;
  message.headers = payload.custom_headers;
  message.message_id = "id@example.com";
  const auto built = mail::build_message(message);
  if (!built) return;
  const bool is_international = mail::has_international_address(*built);
  for (std::size_t i = 0; i < built->size(); ++i) {
    CHECK(static_cast<unsigned char>((*built)[i]) < 0x80 || is_international);
    if ((*built)[i] == '\n') CHECK(i > 0 && (*built)[i - 1] == '\r');
  }
  check_header(*built, payload);
}

}  // namespace

void fuzz_payload(std::string_view input) {
  const auto payload = outbox::parse_payload(input);
  if (!payload) return;
  const std::string text = outbox::to_json(*payload);
  const auto again = outbox::parse_payload(text);
  CHECK(again && outbox::to_json(*again) == text);
  check_built_message(*payload);
}

}  // namespace postino::fuzz
