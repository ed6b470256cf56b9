// Sends the e-mails of a file, batch by batch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/client/email_file.h"
#include "app/client/rest_client.h"
#include "app/console/console.h"
#include "app/console/progress_bar.h"

namespace postino::app {

class FileSender {
 public:
  // With `json`, the answers are printed and the summary goes where errors go.
  FileSender(RestClient& client, const Console& console, bool json) : client_(client), console_(console), json_(json) {}

  // Nothing is sent when a payload breaks a rule, and nothing more once a batch gets no answer: then the file can be
  // corrected, or left as it is, and sent again without any e-mail being sent twice. Returns the exit status.
  int send(const std::vector<std::string>& payloads, base::TimePoint now);

 private:
  int refuse(const std::vector<std::string>& payloads, const std::vector<json::FieldError>& faults) const;
  base::Result<void> send_batch(const EmailBatch& batch, ProgressBar& progress);
  base::Result<void> note_results(const EmailBatch& batch, const http::ClientResponse& response, ProgressBar& progress);
  void print_summary(std::size_t total) const;

  RestClient& client_;
  const Console& console_;
  const bool json_;
  std::int64_t accepted_ = 0;
  std::int64_t accepted_before_ = 0;  // of them: the server had them already, and did not accept them again
  std::int64_t refused_ = 0;
};

}  // namespace postino::app
