// The REST API as commands call it. Errors are in words for people.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/client/client_options.h"
#include "base/result.h"
#include "net/http_client.h"

namespace postino::app {

// "?status=SENT&limit=50"; what is empty is left out.
std::string query_text(const std::vector<std::pair<std::string, std::string>>& parameters);

// Why there is no answer, and what to do about it. `problem` is the HTTP client's.
std::string unreachable_text(const std::string& url, std::string problem);

class RestClient {
 public:
  // invalid when the URL, the key or the file with certificates cannot be used.
  static base::Result<RestClient> create(const ClientOptions& options);

  // What the server answers, whatever it is; io when it does not. `target` begins with a slash.
  base::Result<net::HttpResponse> send(const std::string& method, const std::string& target, std::string body = "");

  // Posts under an idempotency key. Asks again when the answer is lost, or is to try later: because of the key nothing
  // is done twice. After an error of code io it may have been done; not_found when nobody listens. `wait` is how long
  // the server may take for each answer.
  base::Result<net::HttpResponse> post_with_key(const std::string& target, const std::string& body,
                                                const std::string& key,
                                                std::chrono::seconds wait = std::chrono::seconds(60));
  base::Result<net::HttpResponse> post_emails(const std::string& body, const std::string& key) {
    return post_with_key("/emails", body, key);
  }

  // The body of a successful answer. Any other is an error, as describe_problem() has it.
  base::Result<std::string> get(const std::string& target) { return call("GET", target); }
  base::Result<std::string> remove(const std::string& target) { return call("DELETE", target); }

 private:
  RestClient(std::unique_ptr<net::HttpClient> client, net::Url base, std::string key);
  base::Result<std::string> call(const std::string& method, const std::string& target);
  net::HttpRequest request(const std::string& method, const std::string& target, std::string body) const;
  base::Result<net::HttpResponse> exchange(const net::HttpRequest& request, std::chrono::seconds wait);

  std::unique_ptr<net::HttpClient> client_;
  net::Url base_;     // its target is what stands before every path, without a slash at the end
  std::string name_;  // the URL, for messages
  std::string key_;
};

}  // namespace postino::app
