#include "app/client/rest_client.h"

#include <gtest/gtest.h>

namespace postino::app {
namespace {

TEST(RestClient, SaysWhatToDoWhenNoServerListens) {
  const auto text = [](base::Rule rule, const std::string& message) {
    return unreachable_text("http://localhost:8080", base::Error{base::ErrorCode::io, message, rule});
  };
  EXPECT_EQ(text(base::Rule::listening, "cannot connect"),
            "cannot reach http://localhost:8080: connection refused. Is it running? Start it with: postino serve");
  EXPECT_EQ(text(base::Rule::other, "connection refused by a rule of the firewall"),
            "cannot reach http://localhost:8080: connection refused by a rule of the firewall");
}

TEST(RestClient, RefusesUrlsAndKeysThatCannotBe) {
  const auto create = [](const std::string& url, const std::string& key) {
    ClientOptions options;
    options.url = url;
    options.key = key;
    return RestClient::create(options);
  };
  EXPECT_TRUE(create("http://localhost:1/prefix/", "secret"));
  EXPECT_FALSE(create("localhost", ""));
  EXPECT_FALSE(create("http://localhost/?a=b", ""));
  EXPECT_FALSE(create("http://localhost", "two words"));
  EXPECT_FALSE(create("http://localhost", "line\nend"));
}

}  // namespace
}  // namespace postino::app
