#include "remote/credentials/credential_calls.h"

#include <filesystem>
#include <fstream>

#include "signature/signature_time.h"

namespace postino::remote {

base::Result<http::ClientResponse> ask_source(const CredentialSurroundings& surroundings,
                                              const http::ClientRequest& request) {
  auto response = surroundings.client->send(request, net::deadline_in(surroundings.call_time));
  if (response) return response;
  return base::fail(response.error().code,
                    request.url.authority() + " could not be asked for access keys: " + response.error().message);
}

ExpiringKeys by_our_clock(ExpiringKeys keys, const http::ClientResponse& answer, const base::Clock& clock) {
  const auto there = signature::parse_signature_time(answer.header("date"));
  if (keys.expires && there) keys.expires = clock.now() + (*keys.expires - *there);
  return keys;
}

base::Result<std::string> read_small_file(const std::string& path, std::size_t most) {
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error)
    return base::fail(base::ErrorCode::not_found, "there is no file " + path);
  // A reader of a pipe waits for a writer, who may never come.
  const std::filesystem::file_type type = std::filesystem::status(path, error).type();
  if (type == std::filesystem::file_type::fifo || type == std::filesystem::file_type::socket)
    return base::fail(base::ErrorCode::io, path + " is no file that can be read");
  std::ifstream file(path, std::ios::binary);
  std::string text(most + 1, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || (!file.eof() && file.fail()))
    return base::fail(base::ErrorCode::io, "cannot read the file " + path);
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > most) return base::fail(base::ErrorCode::io, "the file " + path + " is too large");
  return text;
}

}  // namespace postino::remote
