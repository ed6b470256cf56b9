#include "app/client/email_summary.h"

#include <gtest/gtest.h>

namespace postino::app {
namespace {

TEST(EmailSummary, HasWhatThereIsAndTheHistory) {
  const auto answer = Answer::parse(
      "getEmail", R"({"id":"1","status":"SENT","partly_sent":true,"reason":"","attempts":2,"from":"a@example.org",
      "subject":"Hello",
      "recipients":[{"address":"b@example.org","status":"sent","reply":"250 ok\u001b[1m"},
                    {"address":"c@example.org","status":"refused","reply":"550 no"}],
      "tags":["x","y"],"callback":{"url":"http://c","attempts":1,"dead":true,"last_error":"timed out"},
      "history":[{"status":"ACCEPTED","at":"2026-11-15T09:30:00.250Z","reason":""},
                 {"status":"SENT","at":"2026-11-15T09:30:01.000Z","reason":"250 ok"}]})");
  ASSERT_TRUE(answer);
  EXPECT_EQ(email_summary(answer->root(), std::nullopt),
            "id            1\n"
            "status        SENT, to some recipients only\n"
            "attempts      2\n"
            "from          a@example.org\n"
            "subject       Hello\n"
            "to            b@example.org  sent  250 ok [1m\n"
            "              c@example.org  refused  550 no\n"
            "tags          x, y\n"
            "callback      http://c  1 attempt  given up  timed out\n"
            "\n"
            "AT                        STATUS    REASON\n"
            "2026-11-15T09:30:00.250Z  ACCEPTED\n"
            "2026-11-15T09:30:01.000Z  SENT      250 ok\n");
}

}  // namespace
}  // namespace postino::app
