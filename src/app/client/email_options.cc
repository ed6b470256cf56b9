#include "app/client/email_options.h"

#include <algorithm>
#include <filesystem>

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

void write_text(json::Writer& json, std::string_view name, const std::string& text) {
  if (!text.empty()) json.key(name).string(text);
}

void write_list(json::Writer& json, std::string_view name, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  json.key(name).begin_array();
  for (const std::string& text : texts) json.string(text);
  json.end_array();
}

base::Result<void> write_body(json::Writer& json, std::string_view name, const std::string& text,
                              const std::string& file) {
  if (file.empty()) {
    write_text(json, name, text);
    return {};
  }
  TRY(const std::string content, read_input(file, outbox::PayloadLimits::body_bytes));
  json.key(name).string(content);
  return {};
}

base::Result<void> write_attachments(json::Writer& json, const std::vector<std::string>& files) {
  if (files.empty()) return {};
  const std::size_t most_bytes = outbox::PayloadLimits::inline_bytes / 4 * 3;  // base64 makes four of three
  json.key("attachments").begin_array();
  for (const std::string& file : files) {
    TRY(const std::string content, read_input(file, most_bytes));
    json.begin_object();
    json.key("name").string(std::filesystem::path(file).filename().string());
    json.key("content_base64").string(base::to_base64(content));
    json.end_object();
  }
  json.end_array();
  return {};
}

void write_headers(json::Writer& json, const std::vector<std::string>& headers) {
  if (headers.empty()) return;
  json.key("custom_headers").begin_object();
  for (const std::string& header : headers) {
    const std::size_t colon = header.find(':');
    json.any_key(trimmed(header.substr(0, colon))).string(trimmed(std::string_view(header).substr(colon + 1)));
  }
  json.end_object();
}

base::Result<void> check_headers(const std::vector<std::string>& headers) {
  for (const std::string& header : headers)
    if (header.find(':') == std::string::npos || trimmed(header).starts_with(':'))
      return base::invalid("--header must be \"Name: value\"");
  return {};
}

// It has no name, and can be read once.
base::Result<void> check_standard_input(const EmailOptions& options) {
  if (std::ranges::count(options.attachments, "-") > 0) return base::invalid("--attach needs a file that has a name");
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
    return base::invalid("--text and --text-file do not go together");
  if (!options.html.empty() && !options.html_file.empty())
    return base::invalid("--html and --html-file do not go together");
  TRY_VOID(check_standard_input(options));
  return check_headers(options.headers);
}

base::Result<std::string> to_payload(const EmailOptions& options) {
  std::string payload;
  json::Writer json(payload);
  json.begin_object();
  write_text(json, "id", options.id);
  write_text(json, "from", options.from);
  write_text(json, "reply_to", options.reply_to);
  write_list(json, "to", options.to);
  write_list(json, "cc", options.cc);
  write_list(json, "bcc", options.bcc);
  write_text(json, "subject", options.subject);
  TRY_VOID(write_body(json, "body_text", options.text, options.text_file));
  TRY_VOID(write_body(json, "body_html", options.html, options.html_file));
  TRY_VOID(write_attachments(json, options.attachments));
  write_headers(json, options.headers);
  write_text(json, "send_at", options.send_at);
  write_text(json, "callback_url", options.callback_url);
  write_list(json, "tags", options.tags);
  json.end_object();
  return payload;
}

}  // namespace postino::app
