// A byte for the sizes of the pieces in which the rest arrives: the bytes of a connection.
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "http/request_reader.h"
#include "targets.h"

namespace postino::fuzz {

namespace {

using http::RequestReader;
using Progress = RequestReader::Progress;

constexpr http::RequestLimits limits{.header_bytes = 1000, .body_bytes = 2000};

struct Outcome {
  std::vector<std::string> requests;
  bool refused = false;
};

bool is_one_line(std::string_view text) { return text.find_first_of(std::string_view("\r\n\0", 3)) == text.npos; }

std::string check_request(const http::Request& request) {
  CHECK(!request.method.empty() && !request.target.empty());
  CHECK(is_one_line(request.method) && is_one_line(request.target));
  CHECK(request.body.size() <= limits.body_bytes);
  std::string text;
  text.append(request.method).append(" ").append(request.target).append("\n");
  for (const auto& [name, value] : request.headers) {
    CHECK(!name.empty() && is_one_line(name) && is_one_line(value));
    text.append(name).append(":").append(value).append("\n");
  }
  CHECK(text.size() <= limits.header_bytes);
  return text.append(request.body);
}

// Reads the bytes in pieces of 1 to `largest` bytes, or all at once when it is 0.
Outcome read(std::string_view bytes, std::size_t largest) {
  const auto budget = std::make_shared<http::BodyBudget>(1 << 20);
  Outcome outcome;
  {
    RequestReader reader(limits, budget);
    for (std::size_t round = 1; !bytes.empty(); ++round) {
      const std::size_t size = largest == 0 ? bytes.size() : 1 + round * 2654435761 % largest;
      Progress progress = reader.feed(bytes.substr(0, size));
      bytes.remove_prefix(std::min(size, bytes.size()));
      for (; progress == Progress::complete; progress = reader.next()) {
        CHECK(budget->taken() == reader.request().body.size());
        outcome.requests.push_back(check_request(reader.request()) + (reader.keep_alive() ? "+" : "-"));
      }
      outcome.refused = progress == Progress::refused;
      if (outcome.refused) {
        CHECK(reader.refusal() >= 400 && !http::reason_phrase(reader.refusal()).empty());
        break;
      }
    }
  }
  CHECK(budget->taken() == 0);
  return outcome;
}

}  // namespace

void fuzz_http(std::string_view input) {
  if (input.empty()) return;
  const std::size_t largest = 1 + static_cast<unsigned char>(input.front());
  input.remove_prefix(1);
  const Outcome whole = read(input, 0);
  const Outcome in_pieces = read(input, largest);
  CHECK(whole.requests == in_pieces.requests);
  // A fault may be seen later in pieces, when the header has come to its end, but it is a fault either way.
  CHECK(whole.refused || !in_pieces.refused);
}

}  // namespace postino::fuzz
