// `postino dynamodb`: the store alone, in the place of DynamoDB Local.
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "base/result.h"
#include "wire/endpoint.h"

namespace postino::app {

struct LocalDynamodb {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8'000;
  std::filesystem::path directory = ".";
  bool in_memory = false;  // in a temporary directory, which goes away with the process
  bool shared = false;     // one set of tables for all regions and access keys
  bool delays_states = false;
  std::vector<std::string> origins;  // of web pages that may call
  std::vector<wire::AccessKey> keys;
};

// Until the process is told to end.
base::Result<void> serve_dynamodb(const LocalDynamodb& local, std::ostream& out);

}  // namespace postino::app
