// The pieces that the client commands are made of. The commands as a whole are tested against a server.
#include <gmock/gmock.h>

#include <sstream>

#include "app/answer_json.h"
#include "app/draft.h"
#include "app/email_file.h"
#include "app/email_summary.h"
#include "app/follow.h"
#include "app/message_batch.h"
#include "app/progress_bar.h"
#include "app/rest_client.h"
#include "app/rest_problem.h"
#include "app/table_text.h"
#include "app/terminal_text.h"
#include "outbox/outbox.h"

namespace postino::app {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// --- Text on a terminal

TEST(TerminalText, ForeignTextCannotControlTheTerminal) {
  EXPECT_EQ(printable("550 \x1b[2Jno\r\nsuch user\x07"), "550  [2Jno  such user ");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            " 31m")
      << "a control sequence introducer of one character";
  EXPECT_EQ(printable("bill\xe2\x80\xaegpj.exe"), "bill gpj.exe") << "the direction of writing";
  EXPECT_EQ(printable("caf\xe9"), "caf?") << "not UTF-8";
  EXPECT_EQ(printable("Grüße, 世界"), "Grüße, 世界");
}

TEST(TerminalText, LinesAndTabsOfALongerTextStay) {
  EXPECT_EQ(printable_lines("a\tb\r\n\x1b[1mc\n\nd"), "a\tb\n [1mc\n\nd");
  EXPECT_EQ(printable_lines("a\rb\n"), "a b\n") << "a line must not be written over";
}

TEST(TerminalText, WidthIsThatOnTheScreen) {
  EXPECT_EQ(display_width("Grüße"), 5);
  EXPECT_EQ(display_width("世界"), 4);
  EXPECT_EQ(display_width("e\xcc\x81"), 1) << "with a combining accent";
  EXPECT_EQ(display_width("📮"), 2);
}

TEST(TerminalText, ShortenedTextEndsInAnEllipsisAndFits) {
  EXPECT_EQ(shortened("mailbox full", 12), "mailbox full");
  EXPECT_EQ(shortened("mailbox full", 8), "mailbox…");
  EXPECT_EQ(shortened("世界世界", 5), "世界…");
  EXPECT_EQ(shortened("世界世界", 4), "世…") << "half a character is none";
  EXPECT_EQ(shortened("mailbox", 0), "");
}

TEST(TerminalText, NumbersAreGroupedByThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1'000), "1,000");
  EXPECT_EQ(grouped(12'345'678), "12,345,678");
  EXPECT_EQ(grouped(-1'000), "-1,000");
  EXPECT_EQ(grouped(-100), "-100");
  EXPECT_EQ(counted(1, "e-mail"), "1 e-mail");
  EXPECT_EQ(counted(2'000, "e-mail"), "2,000 e-mails");
}

TEST(TerminalText, OfSeveralTheFirstIsShownAndTheOthersCounted) {
  EXPECT_EQ(first_and_others({}), "");
  EXPECT_EQ(first_and_others({"ada@example.org"}), "ada@example.org");
  EXPECT_EQ(first_and_others({"ada@example.org", "b", "c"}), "ada@example.org +2");
}

// --- Tables

TEST(TableText, ColumnsAreAlignedAndNumbersOnTheRight) {
  TableText table({{"STATUS"}, {"COUNT", Align::right}, {"NOTE"}});
  table.add({"SENT", "1,200", "größer"});
  table.add({"世界", "7", ""});
  EXPECT_EQ(table.take(),
            "STATUS  COUNT  NOTE\n"
            "SENT    1,200  größer\n"
            "世界        7\n");
}

TEST(TableText, LastColumnIsCutToTheWidthOfTheTerminal) {
  TableText table({{"ID"}, {"REASON"}}, 24);
  table.add({"1", "451 greylisted, try again later"});
  table.add({"2", "exactly as long as it"});
  EXPECT_EQ(table.take(),
            "ID  REASON\n"
            "1   451 greylisted, try…\n"
            "2   exactly as long as …\n");
}

TEST(TableText, LastColumnIsNotCutToNothing) {
  TableText table({{"ID"}, {"REASON"}}, 5);
  table.add({"00000000", "451 greylisted"});
  EXPECT_THAT(table.take(), EndsWith("00000000  451 greylis…\n"));
}

TEST(TableText, PartsOfALongTableHaveOneHeadAndNeverNarrowerColumns) {
  TableText table({{"ID"}, {"NOTE"}});
  EXPECT_EQ(table.take(), "");
  table.add({"long-id", "a"});
  EXPECT_EQ(table.take(), "ID       NOTE\nlong-id  a\n");
  table.add({"x", "b"});
  EXPECT_EQ(table.take(), "x        b\n");
  EXPECT_EQ(table.take(), "");
}

// --- Progress

TEST(ProgressLine, HasABarAndFigures) {
  const std::string half = progress_line("sending", 1'000, 2'000, 60);
  EXPECT_EQ(half, "sending  [" + std::string(12, '#') + std::string(13, '.') + "]   50 %  1,000 of 2,000");
  EXPECT_EQ(display_width(half), 59) << "one column less than the terminal has";
  EXPECT_EQ(progress_line("sending", 2'000, 2'000, 60),
            "sending  [" + std::string(25, '#') + "]  100 %  2,000 of 2,000");
  EXPECT_THAT(progress_line("sending", 1'999, 2'000, 60), HasSubstr(" 99 %")) << "not done before it is done";
}

TEST(ProgressLine, GoesWithoutTheBarWhereThereIsNoRoom) {
  EXPECT_EQ(progress_line("sending", 0, 2'000, 40), "sending    0 %      0 of 2,000");
  for (int columns = 1; columns < 100; ++columns)
    EXPECT_LT(display_width(progress_line("sending", 1'000, 2'000, columns)), columns);
}

TEST(ProgressLine, CountsWhereTheEndIsNotKnown) {
  EXPECT_EQ(progress_line("reading", 1'200, {}, 60), "reading  1,200");
}

TEST(ProgressBar, WritesNothingWhereThereIsNoTerminal) {
  std::ostringstream out;
  {
    ProgressBar bar(out, std::nullopt, "sending", 10);
    bar.show(5);
  }
  EXPECT_EQ(out.str(), "");
}

TEST(ProgressBar, LeavesAnEmptyLineBehind) {
  std::ostringstream out;
  {
    ProgressBar bar(out, 60, "sending", 10);
    bar.show(5);
    const std::string shown = out.str();
    EXPECT_THAT(shown, HasSubstr("5 of 10"));
    bar.show(5);
    EXPECT_EQ(out.str(), shown) << "what is there is not written again";
  }
  EXPECT_THAT(out.str(), EndsWith("\r\x1b[K"));
}

// --- What the server says when something is wrong

net::HttpResponse response(int status, std::string body) { return {.status = status, .body = std::move(body)}; }

TEST(RestProblem, TellsTitleAndDetail) {
  const base::Error error = describe_problem(response(
      503, R"({"title":"The store does not answer","detail":"Try again in a moment.","code":"STORE_UNAVAILABLE"})"));
  EXPECT_EQ(error.message, "The store does not answer: Try again in a moment");
  EXPECT_EQ(error.code, base::ErrorCode::exhausted);
}

TEST(RestProblem, SaysNothingTwice) {
  const base::Error error = describe_problem(
      response(409, R"({"title":"The state forbids this","detail":"It is SENT.","code":"WRONG_STATE"})"));
  EXPECT_EQ(error.message, "It is SENT");
  EXPECT_EQ(error.code, base::ErrorCode::conflict);
}

TEST(RestProblem, TellsWhyEachEndpointCouldNotBeReached) {
  const base::Error error = describe_problem(
      response(502, R"({"title":"Nobody there","detail":"None answers.","code":"BROKER_UNREACHABLE","request_id":"7",)"
                    R"("endpoints":[{"endpoint":"a:1","reason":"refused"},{"endpoint":"b:2","reason":"timed out"}]})"));
  EXPECT_EQ(error.message, "Nobody there: None answers (request 7)\n  a:1: refused\n  b:2: timed out");
  EXPECT_EQ(error.code, base::ErrorCode::io);
}

TEST(RestProblem, TellsTheRuleThatIsBroken) {
  const base::Error error = describe_problem(
      response(400, R"({"title":"t","detail":"d","errors":[{"field":"status","rule":"must be one"}]})"));
  EXPECT_EQ(error.message, "status must be one");
  EXPECT_EQ(error.code, base::ErrorCode::invalid);
}

TEST(RestProblem, TellsAllRulesThatAreBrokenInTheWordsOfTheCommand) {
  const base::Error error = describe_problem(
      response(400, R"({"errors":[{"field":"data[0].to","rule":"is required"},{"field":"","rule":"must be small"}]})"),
      [](const std::string& field) { return field.substr(std::min<std::size_t>(field.size(), 8)); });
  EXPECT_EQ(error.message, "several rules are broken:\n  to is required\n  the request must be small");
}

TEST(RestProblem, SaysHowToGiveAKey) {
  EXPECT_EQ(
      describe_problem(
          response(401,
                   R"({"title":"A valid API key is required","detail":"Send a header.","code":"UNAUTHENTICATED"})"))
          .message,
      "A valid API key is required. Give one with --key SECRET, or in the environment as POSTINO_API_KEY");
  EXPECT_THAT(describe_problem(response(403, R"({"title":"no","code":"FORBIDDEN"})")).message,
              HasSubstr("another API key with --key"));
  EXPECT_THAT(describe_problem(response(403, R"({"title":"no","code":"LOOPBACK_ONLY"})")).message,
              Not(HasSubstr("--key")))
      << "where no key helps";
}

TEST(RestProblem, OfTheServerHasTheRequestToLookFor) {
  const base::Error error = describe_problem(response(500, R"({"title":"Something went wrong","request_id":"r-1"})"));
  EXPECT_EQ(error.message, "Something went wrong (request r-1)");
  EXPECT_EQ(error.code, base::ErrorCode::io);
}

TEST(RestProblem, AnswersOfOthersAreRecognized) {
  EXPECT_EQ(describe_problem(response(404, "<html>")).message, "the server answered 404 Not Found. Is --url right?");
  EXPECT_EQ(describe_problem(response(502, "")).message, "the server answered 502 Bad Gateway. Is --url right?");
  EXPECT_EQ(describe_problem(response(404, "[]")).code, base::ErrorCode::not_found);
}

TEST(RestProblem, IsHarmlessOnATerminal) {
  const base::Error error = describe_problem(
      response(400, R"({"errors":[{"field":"\u001b[2J","rule":"a\nb"},{"field":"x","rule":"\u0007"}]})"));
  EXPECT_EQ(error.message, "several rules are broken:\n   [2J a b\n  x  ");
  EXPECT_THAT(describe_problem(response(404, R"({"title":"\u009b31m"})")).message, Not(HasSubstr("\xc2\x9b")));
}

TEST(RestClient, SaysWhatToDoWhenNobodyListens) {
  EXPECT_EQ(unreachable_text("http://127.0.0.1:8080", "cannot connect to 127.0.0.1:8080: connection refused"),
            "cannot reach http://127.0.0.1:8080: connection refused. Is it running? Start it with: postino serve");
  EXPECT_EQ(unreachable_text("http://[::1]:8080", "cannot connect to [::1]:8080: timed out"),
            "cannot reach http://[::1]:8080: timed out");
  EXPECT_EQ(unreachable_text("https://mail.example", "the server has closed the connection"),
            "cannot reach https://mail.example: the server has closed the connection");
}

TEST(RestClient, EncodesWhatStandsInATarget) {
  EXPECT_EQ(query_text({{"status", ""}, {"from", "2026-01-01T00:00:00+01:00"}, {"limit", "5"}}),
            "?from=2026-01-01T00%3A00%3A00%2B01%3A00&limit=5");
  EXPECT_EQ(query_text({}), "");
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

// --- One e-mail from flags

Draft minimal_draft() {
  Draft draft;
  draft.from = "a@example.org";
  draft.to = {"b@example.org"};
  draft.subject = "Hello";
  draft.text = "Hi";
  return draft;
}

TEST(Draft, BecomesAPayload) {
  Draft draft = minimal_draft();
  draft.to.emplace_back("c@example.org");
  draft.headers = {"X-Campaign:  spring: 1 ", "X-Empty:"};
  draft.tags = {"t\"1"};
  ASSERT_TRUE(check_draft(draft));
  EXPECT_EQ(to_payload(draft).value(),
            R"({"from":"a@example.org","to":["b@example.org","c@example.org"],"subject":"Hello","body_text":"Hi",)"
            R"("custom_headers":{"X-Campaign":"spring: 1","X-Empty":""},"tags":["t\"1"]})");
}

TEST(Draft, MissingFlagsAreNamed) {
  EXPECT_TRUE(check_draft(minimal_draft()));
  const auto rule_without = [](auto Draft::*member) {
    Draft draft = minimal_draft();
    draft.*member = {};
    return check_draft(draft).error().message;
  };
  EXPECT_EQ(rule_without(&Draft::from), "--from is required");
  EXPECT_EQ(rule_without(&Draft::to), "--to is required");
  EXPECT_EQ(rule_without(&Draft::subject), "--subject is required");
  EXPECT_THAT(rule_without(&Draft::text), HasSubstr("--html-file is required"));
}

TEST(Draft, FlagsThatCannotBeAreRefused) {
  const auto with = [](auto Draft::*member, auto value) {
    Draft draft = minimal_draft();
    draft.*member = value;
    return check_draft(draft).has_value();
  };
  using Texts = std::vector<std::string>;
  EXPECT_FALSE(with(&Draft::headers, Texts{"no colon"}));
  EXPECT_FALSE(with(&Draft::headers, Texts{" : no name"}));
  EXPECT_FALSE(with(&Draft::attachments, Texts{"-"}));
  EXPECT_FALSE(with(&Draft::text_file, "beside --text"));
  Draft draft = minimal_draft();
  draft.text.clear();
  draft.text_file = draft.html_file = "-";
  EXPECT_FALSE(check_draft(draft));
  draft = minimal_draft();
  draft.attachments = {"/nowhere/at/all"};
  EXPECT_THAT(to_payload(draft).error().message, HasSubstr("cannot read /nowhere/at/all"));
}

// --- Many e-mails from a file

TEST(EmailFile, TakesOneOrAnArrayOrDataOrLines) {
  EXPECT_THAT(read_email_file(R"({"id": 1})").value(), ElementsAre(R"({"id":1})"));
  EXPECT_THAT(read_email_file(R"([{"id": 1}, 2])").value(), ElementsAre(R"({"id":1})", "2"));
  EXPECT_THAT(read_email_file(R"({"data": [{"id": 1}]})").value(), ElementsAre(R"({"id":1})"));
  EXPECT_THAT(read_email_file("{\"id\": 1}\n\n{\"id\": \"a\\nb\"}\r\n").value(),
              ElementsAre(R"({"id":1})", R"({"id":"a\nb"})"));
}

TEST(EmailFile, SaysWhereItIsNoJson) {
  EXPECT_EQ(read_email_file("{\"id\":1}\n\n{\"id\":").error().message, "line 3 must be JSON");
  EXPECT_THAT(read_email_file("{\n\"id\":").error().message, HasSubstr("must be JSON"));
  EXPECT_THAT(read_email_file("").error().message, HasSubstr("must be JSON"));
  EXPECT_EQ(read_email_file("[]").error().message, "has no e-mails");
}

TEST(EmailFile, FaultsNameThePlaceInTheFile) {
  const std::string good = R"({"from":"a@example.org","to":"b@example.org","subject":"s","body_text":"t"})";
  const std::string bad = R"({"from":"a@example.org","to":[],"subject":"s","body_text":"t"})";
  EXPECT_TRUE(faults_of({good, good}, base::TimePoint()).empty());
  const auto faults = faults_of({good, bad, "7"}, base::TimePoint());
  ASSERT_GE(faults.size(), 2U);
  EXPECT_EQ(faults.front().field, "[1].to");
  EXPECT_EQ(faults[1].field, "[2]");
}

TEST(EmailFile, BatchesHaveAHundredAndAreTheSameOnEveryRun) {
  std::vector<std::string> payloads;
  for (int i = 0; i < 250; ++i) payloads.push_back(std::to_string(i));
  const EmailBatch first = batch_at(payloads, 0);
  const EmailBatch second = batch_at(payloads, first.count);
  const EmailBatch third = batch_at(payloads, 200);
  EXPECT_EQ(first.count, 100U);
  EXPECT_EQ(second.count, 100U);
  EXPECT_EQ(third.count, 50U);
  EXPECT_EQ(second.first, 100U);
  EXPECT_THAT(third.body, EndsWith(",248,249]}"));
  EXPECT_NE(first.key, second.key);
  EXPECT_EQ(first.key, batch_at(payloads, 0).key);
  EXPECT_LE(first.key.size(), 255U);
  payloads[5] += "0";
  EXPECT_NE(first.key, batch_at(payloads, 0).key);
  EXPECT_EQ(second.key, batch_at(payloads, 100).key);
}

TEST(EmailFile, LargeEmailsMakeSmallerBatches) {
  const std::string large(3 << 20, 'x');
  const std::vector<std::string> payloads = {large, large, large, std::string(20 << 20, 'y')};
  EXPECT_EQ(batch_at(payloads, 0).count, 2U);
  EXPECT_EQ(batch_at(payloads, 2).count, 1U);
  EXPECT_EQ(batch_at(payloads, 3).count, 1U) << "one is always sent, however large";
}

// --- Many messages

// What the API would be asked for: how many messages, and which are written.
std::string summary_of(const MessageBatch& batch) {
  json::Document document;
  json::FieldErrors errors;
  EXPECT_TRUE(document.parse(batch.body, errors)) << batch.body;
  const json::Element root = document.root();
  EXPECT_EQ(raw_text_of(root, "idempotencyKey"), batch.key);
  std::string text = std::to_string(number_of(*root.member("settings"), "totalMessages")) + " of";
  const auto messages = list_of(root, "messages");
  if (messages.size() > 5) return text + " " + std::to_string(messages.size());
  for (const json::Element message : messages) text += " " + raw_text_of(message, "body");
  return text;
}

MessageList numbered_messages(int count, std::size_t total) {
  MessageList list{.queue = "q"};
  for (int i = 0; i < count; ++i) list.messages.push_back(R"({"body":")" + std::to_string(i) + R"("})");
  list.total = total;
  return list;
}

TEST(MessageBatch, FewMessagesAreOneCallUnderTheKeyItself) {
  const MessageBatch batch = batch_at(numbered_messages(3, 3), 0, "key");
  EXPECT_EQ(batch.count, 3U);
  EXPECT_EQ(batch.key, "key");
  EXPECT_EQ(summary_of(batch), "3 of 0 1 2");
  EXPECT_EQ(summary_of(batch_at(numbered_messages(3, 2), 0, "key")), "2 of 0 1");
}

TEST(MessageBatch, RepeatedMessagesAreDividedWhereTheyBeginAnew) {
  const MessageList list = numbered_messages(3, 25'000);
  const MessageBatch first = batch_at(list, 0, "key");
  EXPECT_EQ(first.count, 9'999U);
  EXPECT_EQ(first.key, "key-0");
  EXPECT_EQ(summary_of(first), "9999 of 0 1 2");
  const MessageBatch second = batch_at(list, first.count, "key");
  EXPECT_EQ(second.key, "key-9999");
  const MessageBatch third = batch_at(list, first.count + second.count, "key");
  EXPECT_EQ(summary_of(third), "5002 of 0 1 2");
  EXPECT_EQ(batch_at(list, 0, "key").body, first.body);
}

TEST(MessageBatch, ManyMessagesAreWrittenAThousandAtATime) {
  const MessageList list = numbered_messages(2'500, 2'501);
  EXPECT_EQ(summary_of(batch_at(list, 0, "key")), "1000 of 1000");
  EXPECT_EQ(summary_of(batch_at(list, 1'000, "key")), "1000 of 1000");
  EXPECT_EQ(summary_of(batch_at(list, 2'498, "key")), "3 of 2498 2499 0") << "the last is the first again";
}

TEST(MessageBatch, LargeMessagesMakeSmallerCalls) {
  MessageList list{.queue = "q"};
  for (int i = 0; i < 3; ++i) list.messages.push_back(R"({"body":")" + std::string(3 << 20, 'x') + R"("})");
  list.total = 3;
  EXPECT_EQ(batch_at(list, 0, "key").count, 2U);
  EXPECT_EQ(batch_at(list, 2, "key").count, 1U);
}

TEST(MessageBatch, SaysWhereAndHow) {
  MessageList list = numbered_messages(1, 1);
  list.connection = "main";
  list.reply_to = "answers";
  list.settings = R"("batchSize":7)";
  EXPECT_EQ(batch_at(list, 0, "k\"").body,
            R"({"idempotencyKey":"k\"","connection":"main","target":{"queueName":"q","replyToQueue":"answers"},)"
            R"("settings":{"totalMessages":1,"batchSize":7},"messages":[{"body":"0"}]})");
}

// --- Following and showing

TEST(Follow, EveryStateIsUnderWayOrSentOrNot) {
  std::vector<std::string> under_way;
  std::vector<std::string> sent;
  for (const outbox::State state : outbox::all_states()) {
    const std::string name(name_of(state));
    if (course_of(name) == Course::under_way) under_way.push_back(name);
    if (course_of(name) == Course::sent) sent.push_back(name);
  }
  EXPECT_THAT(under_way, ElementsAre("ACCEPTED", "INTAKING", "READY", "PROCESSING"));
  EXPECT_THAT(sent, ElementsAre("SENT", "CALLING-SENT-CALLBACK", "SENT-ACKNOWLEDGED"));
  EXPECT_EQ(course_of("HELD"), Course::not_sent) << "somebody has to release it first";
  EXPECT_EQ(course_of("OF-ANOTHER-VERSION"), Course::under_way);
}

TEST(EmailSummary, HasWhatThereIsAndTheHistory) {
  json::Document document;
  json::FieldErrors errors;
  ASSERT_TRUE(document.parse(R"({"id":"1","status":"SENT","reason":"","attempts":2,"from":"a@example.org",
      "recipients":[{"address":"b@example.org","status":"delivered","reply":"250 ok\u001b[1m"},
                    {"address":"c@example.org","status":"refused","reply":"550 no"}],
      "tags":["x","y"],"callback":{"url":"http://c","attempts":1,"dead":true,"last_error":"timed out"},
      "history":[{"status":"ACCEPTED","at":"2026-11-15T09:30:00.250Z","reason":""},
                 {"status":"SENT","at":"2026-11-15T09:30:01.000Z","reason":"250 ok"}]})",
                             errors));
  EXPECT_EQ(email_summary(document.root(), std::nullopt),
            "id            1\n"
            "status        SENT\n"
            "attempts      2\n"
            "from          a@example.org\n"
            "to            b@example.org  delivered  250 ok [1m\n"
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
