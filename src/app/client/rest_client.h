// The REST API as commands call it. Errors are in words for people.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "app/client/client_options.h"
#include "app/client/operation_call.h"
#include "app/client/rest_problem.h"
#include "base/result.h"
#include "http/client.h"

namespace postino::app {

// Why there is no answer, and what to do about it. `problem` is the HTTP client's.
std::string unreachable_text(const std::string& url, const base::Error& problem);

class RestClient {
 public:
  // invalid when the URL, the key or the file with certificates cannot be used.
  static base::Result<RestClient> create(const ClientOptions& options);

  // What errors call fields of requests from now on. Without it, they have the names of the API.
  void name_fields(FieldName name_of_field) { name_of_field_ = std::move(name_of_field); }
  // Of a response that is no success, as describe_problem() has it.
  base::Error describe(const http::ClientResponse& response) const {
    return describe_problem(response, name_of_field_);
  }

  // What the server answers, whatever it is; io when it does not.
  base::Result<http::ClientResponse> send(const OperationCall& call);

  // Sends it under an idempotency key. Asks again when the answer is lost, or is to try later: because of the key
  // nothing is done twice. After an error of code io it may have been done; not_found when no server listens. `wait`
  // is how long the server may take for each answer.
  base::Result<http::ClientResponse> send_with_key(OperationCall call, const std::string& key,
                                                   std::chrono::seconds wait = std::chrono::seconds(60));

  // The body of a successful answer. Any other is an error, as describe() has it.
  base::Result<std::string> fetch(const OperationCall& call);

  // A page beside the API, such as "/readyz", whatever its status is.
  base::Result<http::ClientResponse> page(std::string_view path);

  // For an operation whose answer goes on: `take` gets it part by part, for as long as it answers true. An error also
  // when the server has ended the answer.
  base::Result<void> follow(const OperationCall& call, const std::function<bool(std::string_view part)>& take);

 private:
  RestClient(std::unique_ptr<http::Client> client, net::Url base, std::string key);
  http::ClientRequest request(const OperationCall& call) const;
  base::Result<http::ClientResponse> exchange(const http::ClientRequest& request, std::chrono::seconds wait);

  std::unique_ptr<http::Client> client_;
  net::Url base_;     // its target is what stands before every path, without a slash at the end
  std::string name_;  // the URL, for messages
  std::string key_;
  FieldName name_of_field_;
};

}  // namespace postino::app
