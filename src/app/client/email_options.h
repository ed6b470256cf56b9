// An e-mail as the flags of `postino send` describe it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace postino::app {

struct EmailOptions {
  std::string id;
  std::string from;
  std::string reply_to;
  std::vector<std::string> to;
  std::vector<std::string> cc;
  std::vector<std::string> bcc;
  std::string subject;
  std::string text;
  std::string text_file;
  std::string html;
  std::string html_file;
  std::vector<std::string> attachments;  // files
  std::vector<std::string> headers;      // "Name: value"
  std::string send_at;
  std::string callback_url;
  std::vector<std::string> tags;
};

// Which flags are missing or contradict each other. What their values must be like is for the server to say.
base::Result<void> check_email_options(const EmailOptions& options);

// The payload as JSON, with the files in it. Fails when one cannot be read.
base::Result<std::string> to_payload(const EmailOptions& options);

}  // namespace postino::app
