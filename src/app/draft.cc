#include "app/draft.h"

#include <algorithm>
#include <filesystem>

#include "app/input_file.h"
#include "item/json_codec.h"
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
  TRY(const std::string content, read_input(file, outbox::PayloadLimits().body_bytes));
  json.key(name).string(content);
  return {};
}

base::Result<void> write_attachments(json::Writer& json, const std::vector<std::string>& files) {
  if (files.empty()) return {};
  const std::size_t most_bytes = outbox::PayloadLimits().inline_bytes / 4 * 3;  // base64 makes four of three
  json.key("attachments").begin_array();
  for (const std::string& file : files) {
    TRY(const std::string content, read_input(file, most_bytes));
    json.begin_object();
    json.key("name").string(std::filesystem::path(file).filename().string());
    json.key("content_base64").string(item::to_base64(content));
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
base::Result<void> check_standard_input(const Draft& draft) {
  if (std::ranges::count(draft.attachments, "-") > 0) return base::invalid("--attach needs a file that has a name");
  if (draft.text_file == "-" && draft.html_file == "-")
    return base::invalid("only one of --text-file and --html-file can be the standard input");
  return {};
}

}  // namespace

base::Result<void> check_draft(const Draft& draft) {
  if (draft.from.empty()) return base::invalid("--from is required");
  if (draft.to.empty()) return base::invalid("--to is required");
  if (draft.subject.empty()) return base::invalid("--subject is required");
  if (draft.text.empty() && draft.text_file.empty() && draft.html.empty() && draft.html_file.empty())
    return base::invalid("one of --text, --text-file, --html and --html-file is required");
  if (!draft.text.empty() && !draft.text_file.empty())
    return base::invalid("--text and --text-file do not go together");
  if (!draft.html.empty() && !draft.html_file.empty())
    return base::invalid("--html and --html-file do not go together");
  TRY_VOID(check_standard_input(draft));
  return check_headers(draft.headers);
}

base::Result<std::string> to_payload(const Draft& draft) {
  std::string payload;
  json::Writer json(payload);
  json.begin_object();
  write_text(json, "id", draft.id);
  write_text(json, "from", draft.from);
  write_text(json, "reply_to", draft.reply_to);
  write_list(json, "to", draft.to);
  write_list(json, "cc", draft.cc);
  write_list(json, "bcc", draft.bcc);
  write_text(json, "subject", draft.subject);
  TRY_VOID(write_body(json, "body_text", draft.text, draft.text_file));
  TRY_VOID(write_body(json, "body_html", draft.html, draft.html_file));
  TRY_VOID(write_attachments(json, draft.attachments));
  write_headers(json, draft.headers);
  write_text(json, "send_at", draft.send_at);
  write_text(json, "callback_url", draft.callback_url);
  write_list(json, "tags", draft.tags);
  json.end_object();
  return payload;
}

}  // namespace postino::app
