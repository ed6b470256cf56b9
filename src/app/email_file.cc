#include "app/email_file.h"

#include "app/answer_json.h"
#include "base/hash.h"
#include "outbox/payload.h"

namespace postino::app {

namespace {

constexpr std::size_t most_emails = 100;      // that the API takes at once
constexpr std::size_t usual_bytes = 8 << 20;  // a batch ends before it has more, unless one e-mail has more by itself

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

std::vector<std::string> elements_of(json::Element root) {
  std::vector<std::string> payloads;
  simdjson::dom::array array;
  const auto data = member_of(root, "data");
  if ((data ? *data : root).get(array) != simdjson::SUCCESS) return {simdjson::minify(root)};
  for (const json::Element element : array) payloads.push_back(simdjson::minify(element));
  return payloads;
}

// An object on each line; blank lines count for nothing but the number of those that follow.
base::Result<std::vector<std::string>> read_lines(std::string_view text) {
  std::vector<std::string> payloads;
  json::Document document;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (is_blank(line)) continue;
    json::FieldErrors errors;
    if (!document.parse(line, errors))
      return base::invalid("line " + std::to_string(number) + " " + errors.list().front().rule);
    payloads.push_back(simdjson::minify(document.root()));
  }
  return payloads;
}

// Does it begin with a line that is a whole object? Otherwise it is not meant to be read line by line.
bool has_lines(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (!is_blank(line)) {
      json::Document document;
      json::FieldErrors errors;
      return document.parse(line, errors) && document.root().is_object();
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

}  // namespace

base::Result<std::vector<std::string>> read_email_file(std::string_view text) {
  json::Document document;
  json::FieldErrors errors;
  std::vector<std::string> payloads;
  if (document.parse(text, errors)) {
    payloads = elements_of(document.root());
  } else if (has_lines(text)) {
    TRY(payloads, read_lines(text));
  } else {
    return base::invalid(errors.list().front().rule + ": an e-mail, an array of them, or one on each line");
  }
  if (payloads.empty()) return base::invalid("has no e-mails");
  return payloads;
}

std::vector<json::FieldError> faults_of(const std::vector<std::string>& payloads, base::TimePoint now) {
  std::vector<json::FieldError> faults;
  json::Document document;
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    json::FieldErrors errors;
    if (document.parse(payloads[i], errors))
      outbox::read_payload(document.root(), json::element_path("", i), now, errors);
    faults.insert(faults.end(), errors.list().begin(), errors.list().end());
  }
  return faults;
}

EmailBatch batch_at(const std::vector<std::string>& payloads, std::size_t first) {
  EmailBatch batch{.first = first, .body = "{\"data\":["};
  for (std::size_t i = first; i < payloads.size() && batch.count < most_emails; ++i, ++batch.count) {
    if (batch.count > 0 && batch.body.size() + payloads[i].size() > usual_bytes) break;
    if (batch.count > 0) batch.body += ',';
    batch.body += payloads[i];
  }
  batch.body += "]}";
  batch.key = "postino-send-" + base::to_hex(base::sha256(batch.body));
  return batch;
}

}  // namespace postino::app
