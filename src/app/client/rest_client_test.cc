#include "app/client/rest_client.h"

#include <gtest/gtest.h>

namespace postino::app {
namespace {

TEST(RestClient, SaysWhatToDoWhenNobodyListens) {
  EXPECT_EQ(unreachable_text("http://127.0.0.1:8080", "cannot connect to 127.0.0.1:8080: connection refused"),
            "cannot reach http://127.0.0.1:8080: connection refused. Is it running? Start it with: postino serve");
  EXPECT_EQ(unreachable_text("http://[::1]:8080", "cannot connect to [::1]:8080: timed out"),
            "cannot reach http://[::1]:8080: timed out");
  EXPECT_EQ(unreachable_text("https://mail.example", "the server has closed the connection"),
            "cannot reach https://mail.example: the server has closed the connection");
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
