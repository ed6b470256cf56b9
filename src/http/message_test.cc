#include "http/message.h"

#include <gtest/gtest.h>

#include "http/date.h"
#include "http/response_head.h"

namespace postino::http {
namespace {

TEST(HttpRequestTest, FindsHeadersInAnyCase) {
  Request request;
  request.headers = {{"Host", "a"}, {"X-Amz-Target", "first"}, {"x-amz-target", "second"}};
  EXPECT_EQ(request.header("x-AMZ-target"), "first");
  EXPECT_EQ(request.header("X-Amz-Targe"), "");
  EXPECT_TRUE(request.has_header("HOST"));
  EXPECT_FALSE(request.has_header("Hos"));
}

TEST(HttpRequestTest, SplitsTheTarget) {
  Request request;
  request.target = "/a/b?c=d?e";
  EXPECT_EQ(request.path(), "/a/b");
  EXPECT_EQ(request.query(), "c=d?e");
  request.target = "/a";
  EXPECT_EQ(request.path(), "/a");
  EXPECT_EQ(request.query(), "");
}

TEST(HttpDateTest, IsInTheFormOfTheStandard) {
  EXPECT_EQ(format_date(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");  // the example of RFC 9110
  EXPECT_EQ(format_date(1767323045), "Fri, 02 Jan 2026 03:04:05 GMT");
  EXPECT_EQ(format_date(1709164800), "Thu, 29 Feb 2024 00:00:00 GMT");
}

std::string head_of(const Response& response, const ResponseContext& context) {
  std::string head;
  append_response_head(head, response, context);
  return head;
}

TEST(ResponseHeadTest, HasWhatTheHandlerSetAndWhatTheClientNeeds) {
  Response response;
  response.status = 400;
  response.content_type = "application/json";
  response.headers = {{"Server", "Server"}, {"x-amz-crc32", "17"}};
  response.body = "0123456789";
  EXPECT_EQ(head_of(response, {.date = "Sun, 06 Nov 1994 08:49:37 GMT"}),
            "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nServer: Server\r\nx-amz-crc32: 17\r\n"
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 10\r\n\r\n");
}

TEST(ResponseHeadTest, SaysWhatBecomesOfTheConnection) {
  EXPECT_EQ(head_of({}, {.date = "d", .keep_alive = false}),
            "HTTP/1.1 200 OK\r\nDate: d\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(head_of({}, {.date = "d", .keep_alive = true, .to_http_1_0 = true}),
            "HTTP/1.1 200 OK\r\nDate: d\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(head_of({}, {.date = "d", .keep_alive = false, .to_http_1_0 = true}),
            "HTTP/1.1 200 OK\r\nDate: d\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
}

TEST(ResponseHeadTest, AnnouncesNoBodyWhereThereIsNone) {
  Response response;
  response.status = 204;
  EXPECT_EQ(head_of(response, {.date = "d"}), "HTTP/1.1 204 No Content\r\nDate: d\r\n\r\n");
  response.status = 599;
  EXPECT_EQ(head_of(response, {.date = "d"}), "HTTP/1.1 599 \r\nDate: d\r\nContent-Length: 0\r\n\r\n");
}

TEST(ResponseHeadTest, LetsNobodyAddLinesByAHeader) {
  Response response;
  response.content_type = "text/plain\r\nX-Evil: 1";
  response.headers = {{"X-A", "a\nX-Evil: 1"}, {"X-B\r", "b"}, {"X-C", std::string("c\0d", 3)}, {"X-D", "d"}};
  EXPECT_EQ(head_of(response, {.date = "d"}), "HTTP/1.1 200 OK\r\nX-D: d\r\nDate: d\r\nContent-Length: 0\r\n\r\n");
}

}  // namespace
}  // namespace postino::http
