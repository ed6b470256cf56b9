#include "app/client/email_file.h"

#include "app/client/json_file.h"
#include "base/hash.h"
#include "outbox/outbox.h"

namespace postino::app {

namespace {

constexpr std::size_t most_emails = 100;  // that the API takes at once
constexpr std::size_t usual_email_batch_bytes =
    8 << 20;  // a batch ends before it has more, unless one e-mail has more by itself

}  // namespace

base::Result<std::vector<std::string>> read_email_file(std::string_view text) {
  return read_json_file(text, {"data", "an e-mail", "e-mails"});
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
    if (batch.count > 0 && batch.body.size() + payloads[i].size() > usual_email_batch_bytes) break;
    if (batch.count > 0) batch.body += ',';
    batch.body += payloads[i];
  }
  batch.body += "]}";
  batch.key = "postino-send-" + base::to_hex(base::sha256(batch.body));
  return batch;
}

}  // namespace postino::app
