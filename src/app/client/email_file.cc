#include "app/client/email_file.h"

#include "api/protocol/limits.h"
#include "app/client/json_file.h"
#include "base/hash.h"
#include "outbox/outbox.h"

namespace postino::app {

namespace {

// A batch ends before it has more, unless one e-mail has more by itself.
constexpr std::size_t usual_email_batch_bytes = 8 << 20;

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

OperationCall acceptance_call(std::string payloads) {
  OperationCall call("acceptEmails");
  call.body().set_json("data", std::move(payloads));
  return call;
}

EmailBatch batch_at(const std::vector<std::string>& payloads, std::size_t first) {
  EmailBatch batch{.first = first, .payloads = "["};
  for (std::size_t i = first; i < payloads.size() && batch.count < api::Limits::emails_in_a_request;
       ++i, ++batch.count) {
    if (batch.count > 0 && batch.payloads.size() + payloads[i].size() > usual_email_batch_bytes) break;
    if (batch.count > 0) batch.payloads += ',';
    batch.payloads += payloads[i];
  }
  batch.payloads += ']';
  batch.key = "postino-send-" + base::to_hex(base::sha256(acceptance_call(batch.payloads).body_text()));
  return batch;
}

}  // namespace postino::app
