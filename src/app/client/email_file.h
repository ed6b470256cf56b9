// Many e-mails in one file, and the batches they are sent in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/client/operation_call.h"
#include "base/clock.h"
#include "base/result.h"
#include "json/fields.h"

namespace postino::app {

// The payloads in a text, each as JSON of its own: one object, an array, {"data": [...]}, or an object on each line.
// They need not be good ones. Fails with the line where it is no JSON.
base::Result<std::vector<std::string>> read_email_file(std::string_view text);

// Every rule that a payload breaks, by its place in the file: "[17].to[0]". An API that is asked to accept such a
// payload accepts none of those beside it either.
std::vector<json::FieldError> faults_of(const std::vector<std::string>& payloads, base::TimePoint now);

// Hands in payloads: a JSON array of them.
OperationCall acceptance_call(std::string payloads);

// Some of the payloads.
struct EmailBatch {
  std::size_t first = 0;  // its place in the file
  std::size_t count = 0;
  std::string payloads;  // a JSON array
  std::string key;       // stands for these payloads alone, and is the same on every run
};

// The batch that begins at `first`, which must be there. How the payloads are divided depends on them alone.
EmailBatch batch_at(const std::vector<std::string>& payloads, std::size_t first);

}  // namespace postino::app
