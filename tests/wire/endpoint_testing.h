// A test with an endpoint on a real store, which is called without a network in between.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/temporary_directory.h"
#include "engine/engine.h"
#include "wire/endpoint.h"

namespace postino::wire {

struct Headers : std::vector<std::pair<std::string, std::string>> {
  using vector::vector;
};

class EndpointTest : public testing::Test {
 protected:
  EndpointTest();
  ~EndpointTest() override;

  // Sends any HTTP request and waits for the response.
  http::Response send(const std::string& method, const std::string& target, const Headers& headers,
                      const std::string& body);
  // Calls an operation ("GetItem") with a body, properly addressed and signed.
  http::Response call(const std::string& operation, const std::string& body);
  // The same, without waiting: the response goes to `respond`.
  void call_without_waiting(const std::string& operation, std::string body, http::Responder respond);

  // The body of a call that must succeed.
  std::string answer(const std::string& operation, const std::string& body);
  // "ValidationException: message" of a call that must fail, whatever the namespace.
  std::string refusal(const std::string& operation, const std::string& body);

  // A table with the string keys "pk" and, when asked for, "sk".
  void create_table(const std::string& name, bool with_range = false);

  // The same store with other options.
  void restart(EndpointOptions options);

  Endpoint& endpoint() { return *endpoint_; }
  const Endpoint& endpoint() const { return *endpoint_; }
  // Another one on the same store.
  void replace_endpoint(const EndpointOptions& options);

 private:
  base::TemporaryDirectory directory_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<Endpoint> endpoint_;
};

std::string header(const http::Response& response, const std::string& name);

}  // namespace postino::wire
