#include "app/client/email_options.h"

#include <algorithm>
#include <filesystem>

#include "api/protocol/schemas.h"
#include "app/client/request_object.h"
#include "app/console/input_file.h"
#include "base/base64.h"
#include "json/writer.h"
#include "outbox/outbox.h"

namespace postino::app {

namespace {

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  text.remove_suffix(text.size() - (text.find_last_not_of(' ') + 1));
  return text;
}

void set_text(RequestObject& payload, std::string_view field, const std::string& text) {
  if (!text.empty()) payload.set_text(field, text);
}

void set_texts(RequestObject& payload, std::string_view field, const std::vector<std::string>& texts) {
  if (!texts.empty()) payload.set_texts(field, texts);
}

base::Result<void> set_body(RequestObject& payload, std::string_view field, const std::string& text,
                            const std::string& file) {
  if (file.empty()) {
    set_text(payload, field, text);
    return {};
  }
  TRY(const std::string content, read_input(file, outbox::PayloadLimits::body_bytes));
  payload.set_text(field, content);
  return {};
}

base::Result<std::string> attachment_of(const std::string& file) {
  const std::size_t most_bytes = outbox::PayloadLimits::inline_bytes / 4 * 3;  // base64 makes four of three
  TRY(const std::string content, read_input(file, most_bytes));
  RequestObject attachment(api::schema_named("Attachment"));
  attachment.set_text("name", std::filesystem::path(file).filename().string());
  attachment.set_text("content_base64", base::to_base64(content));
  return attachment.json();
}

base::Result<void> set_attachments(RequestObject& payload, const std::vector<std::string>& files) {
  if (files.empty()) return {};
  std::string list = "[";
  for (const std::string& file : files) {
    TRY(const std::string attachment, attachment_of(file));
    list.append(list.size() > 1 ? "," : "").append(attachment);
  }
  payload.set_json("attachments", list + "]");
  return {};
}

void set_headers(RequestObject& payload, const std::vector<std::string>& headers) {
  if (headers.empty()) return;
  std::string text;
  json::Writer json(text);
  json.begin_object();
  for (const std::string& header : headers) {
    const std::size_t colon = header.find(':');
    json.any_key(trimmed(header.substr(0, colon))).string(trimmed(std::string_view(header).substr(colon + 1)));
  }
  json.end_object();
  payload.set_json("custom_headers", std::move(text));
}

base::Result<void> check_headers(const std::vector<std::string>& headers) {
  for (const std::string& header : headers)
    if (header.find(':') == std::string::npos || trimmed(header).starts_with(':'))
      return base::invalid("--header must be \"Name: value\"");
  return {};
}

// It has no name, and can be read once.
base::Result<void> check_standard_input(const EmailOptions& options) {
  if (std::ranges::count(options.attachments, "-") > 0)
    return base::invalid("--attach must be the name of a file, not -");
  if (options.text_file == "-" && options.html_file == "-")
    return base::invalid("only one of --text-file and --html-file can be the standard input");
  return {};
}

}  // namespace

base::Result<void> check_email_options(const EmailOptions& options) {
  if (options.from.empty()) return base::invalid("--from is required");
  if (options.to.empty()) return base::invalid("--to is required");
  if (options.subject.empty()) return base::invalid("--subject is required");
  if (options.text.empty() && options.text_file.empty() && options.html.empty() && options.html_file.empty())
    return base::invalid("one of --text, --text-file, --html and --html-file is required");
  if (!options.text.empty() && !options.text_file.empty())
    return base::invalid("--text and --text-file cannot be used together");
  if (!options.html.empty() && !options.html_file.empty())
    return base::invalid("--html and --html-file cannot be used together");
  TRY_VOID(check_standard_input(options));
  return check_headers(options.headers);
}

base::Result<std::string> to_payload(const EmailOptions& options) {
  RequestObject payload(api::schema_named("Payload"));
  set_text(payload, "id", options.id);
  set_text(payload, "from", options.from);
  set_text(payload, "reply_to", options.reply_to);
  set_texts(payload, "to", options.to);
  set_texts(payload, "cc", options.cc);
  set_texts(payload, "bcc", options.bcc);
  set_text(payload, "subject", options.subject);
  TRY_VOID(set_body(payload, "body_text", options.text, options.text_file));
  TRY_VOID(set_body(payload, "body_html", options.html, options.html_file));
  TRY_VOID(set_attachments(payload, options.attachments));
  set_headers(payload, options.headers);
  set_text(payload, "send_at", options.send_at);
  set_text(payload, "callback_url", options.callback_url);
  set_texts(payload, "tags", options.tags);
  return payload.json();
}

}  // namespace postino::app
