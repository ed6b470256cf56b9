// Customers' answers that arrive by a queue, with the store's queues.
#include "support/answer_intake.h"

#include "messages/store_queue.h"
#include "net/logged_lines_testing.h"
#include "support_environment.h"

namespace postino::support {
namespace {

using broker::Messages;

class AnswerIntakeTest : public testing::Test {
 protected:
  AnswerIntakeTest() {
    ticket_ = office_.make();
    sent_ = office_.correspondence.send(ticket_, test_letter(), actor_).value().email.message_id;
  }

  void put(const std::string& body) {
    const auto report = queue_.produce("answers", Messages::of({{.id = "", .body = body}}), {}, nullptr);
    ASSERT_TRUE(report.complete());
  }
  std::string as_json(const std::string& id) const {
    return R"({"headers":"Message-ID: <)" + id + R"(>\r\nIn-Reply-To: <)" + sent_ + R"(>\r\n","text":"It works."})";
  }
  std::size_t emails() { return office_.correspondence.list(ticket_, {}, actor_).value().entries.size(); }
  std::uint64_t depth() { return queue_.depth("answers").value().ready; }

  SupportStore store_;
  SupportOffice office_{store_};
  messages::StoreQueue queue_{store_.engine(), store_.clock(), store_.random(), store_.retry(), {}};
  AnswerIntake intake_{
      queue_,
      office_.correspondence,
      store_.clock(),
      store_.random(),
      {.connection = "embedded", .queue = "answers", .tenant = "", .batch = 10, .wait = base::Milliseconds(0)}};
  const Actor actor_ = operator_of();
  std::string ticket_;
  std::string sent_;
};

TEST_F(AnswerIntakeTest, FindTheirTicketsOnce) {
  put(as_json("1@customer.example"));
  put("Message-ID: <2@customer.example>\r\nReferences: <" + sent_ + ">\r\n\r\nIt works again.");
  put(as_json("1@customer.example"));
  EXPECT_TRUE(intake_.run_once());
  EXPECT_EQ(emails(), 3U);
  EXPECT_EQ(depth(), 0U);
}

TEST_F(AnswerIntakeTest, ThatAnswerNothingAreRejectedAndKeepNoOthersBack) {
  put("In-Reply-To: <unknown@example.com>\r\n\r\nHello?");
  put("{\"headers\":7}");
  put(as_json("3@customer.example"));
  EXPECT_TRUE(intake_.run_once());
  EXPECT_EQ(emails(), 2U);
  EXPECT_EQ(depth(), 0U);
  std::string metrics;
  intake_.append_metrics(metrics);
  EXPECT_THAT(metrics, testing::HasSubstr("postino_ticket_answers_rejected_total 2\n"));
}

TEST_F(AnswerIntakeTest, AreDecoded) {
  put("Message-ID: <4@customer.example>\r\nIn-Reply-To: <" + sent_ +
      ">\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\n"
      "Content-Type: text/html\r\n\r\n<p>No</p>\r\n--b\r\nContent-Type: text/plain; charset=iso-8859-1\r\n"
      "Content-Transfer-Encoding: quoted-printable\r\n\r\nEs ist gr=FCn.\r\n--b--\r\n");
  EXPECT_TRUE(intake_.run_once());
  const auto all = office_.correspondence.list(ticket_, {}, actor_);
  ASSERT_TRUE(succeeded(all));
  ASSERT_THAT(all->entries, testing::SizeIs(2));
  // Both are of the same moment.
  EXPECT_THAT(all->entries, testing::Contains(testing::Field(&TicketEmail::text, "Es ist grün.")));
}

TEST_F(AnswerIntakeTest, ThatAreRejectedForTheSameReasonAreToldOnceAMinute) {
  const net::LoggedLines lines;
  for (int i = 0; i < 5; ++i) put("In-Reply-To: <unknown@example.com>\r\n\r\nHello?");
  put("{\"headers\":7}");
  EXPECT_TRUE(intake_.run_once());
  EXPECT_EQ(depth(), 0U);
  EXPECT_EQ(lines.count("an answer was rejected"), 2) << lines.text();
}

TEST(ReadAnswer, TakesJsonAndEmails) {
  EXPECT_EQ(read_answer("A: b\n\ntext")->headers, "A: b\n");
  EXPECT_EQ(read_answer("A: b\r\n\r\ntext")->text, "text");
  EXPECT_EQ(read_answer("A: b")->headers, "A: b");
  EXPECT_EQ(read_answer(R"({"headers":"A: b"})")->headers, "A: b");
  // "A: b\nContent-Transfer-Encoding: base64\n\ndGV4dA=="
  const auto encoded =
      read_answer(R"({"message_base64":"QTogYgpDb250ZW50LVRyYW5zZmVyLUVuY29kaW5nOiBiYXNlNjQKCmRHVjRkQT09"})");
  ASSERT_TRUE(encoded);
  EXPECT_EQ(encoded->headers, "A: b\nContent-Transfer-Encoding: base64\n");
  EXPECT_EQ(encoded->text, "text");
  // What a program has decoded is not decoded again.
  EXPECT_EQ(read_answer(R"({"headers":"Content-Transfer-Encoding: quoted-printable","text":"a=3Db"})")->text, "a=3Db");
  for (const char* const wrong : {"", "{", "{}", R"({"headers":"a","body":"b"})", R"({"text":"a"})",
                                  R"({"message_base64":"*"})", R"({"message_base64":"QTogYg==","headers":"a"})"})
    EXPECT_FALSE(read_answer(wrong)) << wrong;
}

}  // namespace
}  // namespace postino::support
