#include "outbox/work/callback_sender.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/temporary_directory.h"
#include "net/certificates_testing.h"
#include "net/raw_server_testing.h"
#include "smtp/script_testing.h"

namespace postino::outbox {
namespace {

using base::Milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr base::TimePoint callback_start{base::Milliseconds(1'794'735'000'250)};  // 2026-11-15T09:30:00.250Z

TEST(RetryAfter, IsANumberOfSecondsOrADate) {
  EXPECT_EQ(parse_retry_after("0", callback_start), Milliseconds(0));
  EXPECT_EQ(parse_retry_after("120", callback_start), seconds(120));
  EXPECT_EQ(parse_retry_after("99999999999", callback_start), seconds(1'000'000));
  // The example of RFC 9110, 30 seconds after one of ours.
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", base::from_epoch_milliseconds(784'111'747'000)),
            seconds(30));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", callback_start), Milliseconds(0)) << "that is over";
  for (const char* text : {"", "-1", "+5", "5s", "1.5", "5 6", "soon", "Sun, 06 Nov 1994 08:49:37 PST",
                           "Sun, 06 Nov 1994 08:49:37 GMT+1", "999999999999999999999999"})
    EXPECT_EQ(parse_retry_after(text, callback_start), std::nullopt) << text;
}

TEST(CallbackHost, IsWhereTheCallbackGoes) {
  Policy policy;
  policy.default_callback_url = "https://Hooks.example/outcome";
  Email email;
  EXPECT_EQ(callback_host_of(email, policy), DestinationNames{"hooks.example:443"});
  email.callback_url = "http://127.0.0.1:8081/a?b";
  EXPECT_EQ(callback_host_of(email, policy), DestinationNames{"127.0.0.1:8081"});
  email.callback_url = "nowhere";
  EXPECT_EQ(callback_host_of(email, policy), DestinationNames());
}

// Callbacks to a receiver that answers as the test says.
class CallbackSenderTest : public testing::Test {
 protected:
  CallbackSenderTest() { policy_.default_callback_url = url("/configured"); }

  std::string url(const std::string& path) const { return "http://127.0.0.1:" + std::to_string(port_) + path; }
  Event call(const std::string& answer, const std::string& email_url = "", bool allow_private_addresses = false) {
    answer_ = "HTTP/1.1 " + answer + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    const auto sender =
        CallbackSender::create(policy_, clock_, *WebhookSigner::create("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
                               {.allow_private_addresses = allow_private_addresses,
                                .certificate_file = authority_.certificate_file(),
                                .shutdown_deadline = shutdown_deadline_});
    EXPECT_TRUE(sender);
    Email email;
    email.id = "e1";
    email.state = State::calling_sent;
    email.settled_at = callback_start;
    email.callback_url = email_url;
    return (*sender)->work(email);
  }
  // The test fails when it was acknowledged.
  event::CallbackFailed failure(const std::string& answer, const std::string& email_url = "") {
    const Event event = call(answer, email_url);
    const auto* failed = std::get_if<event::CallbackFailed>(&event);
    EXPECT_NE(failed, nullptr) << answer;
    return failed != nullptr ? *failed : event::CallbackFailed();
  }
  static bool is_acknowledged(const Event& event) { return std::holds_alternative<event::CallbackAcknowledged>(event); }

  const base::ManualClock clock_{callback_start};
  Policy policy_;
  // The authorities of the system would take long to read.
  const base::TemporaryDirectory directory_;
  const net::TestAuthority authority_{directory_.path()};
  const std::shared_ptr<net::ShutdownDeadline> shutdown_deadline_ = std::make_shared<net::ShutdownDeadline>();
  std::string answer_;  // both are written and read while the other side waits
  std::string request_;
  net::RawServer receiver_{[this](net::RawPeer& peer) {
    request_ = peer.receive_until("}");
    const std::string answer = answer_;  // the client goes on as soon as it has it, and the test to the next one
    peer.send(answer);
  }};
  const std::uint16_t port_ = receiver_.port();
};

TEST_F(CallbackSenderTest, PostsTheSignedOutcome) {
  EXPECT_TRUE(is_acknowledged(call("200 OK")));
  EXPECT_THAT(request_, HasSubstr("POST /configured HTTP/1.1\r\n"));
  EXPECT_THAT(request_, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(request_, HasSubstr("webhook-signature: v1,"));
  EXPECT_THAT(request_, HasSubstr(R"("message_ids":["e1"])"));
}

TEST_F(CallbackSenderTest, OnlySuccessAcknowledges) {
  EXPECT_TRUE(is_acknowledged(call("202 Accepted")));
  for (const std::string answer : {"302 Found", "404 Not Found", "500 Internal Server Error"}) {
    const event::CallbackFailed failed = failure(answer);
    EXPECT_EQ(failed.error, "HTTP " + answer.substr(0, 3));
    EXPECT_EQ(failed.retry_after, std::nullopt);
    EXPECT_FALSE(failed.permanent) << answer;
  }
}

TEST_F(CallbackSenderTest, TheReceiverMayAskForTimeOrForNoMore) {
  EXPECT_EQ(failure("503 Busy\r\nRetry-After: 120").retry_after, seconds(120));
  EXPECT_TRUE(failure("410 Gone").permanent);
}

// The process ends, and the next one calls.
TEST_F(CallbackSenderTest, ACallThatTheShutdownDeadlineBreaksOffIsGivenBack) {
  shutdown_deadline_->begin_at(std::chrono::steady_clock::now());
  EXPECT_TRUE(std::holds_alternative<event::GivenBack>(call("200 OK")));
  EXPECT_TRUE(failure("200 OK", "ftp://example.com/").permanent) << "that is not for lack of time";
}

TEST_F(CallbackSenderTest, OnlyTheConfiguredUrlMayBePrivate) {
  EXPECT_TRUE(failure("200 OK", url("/own")).permanent);
  EXPECT_EQ(receiver_.connections(), 0);
  EXPECT_TRUE(is_acknowledged(call("200 OK", url("/own"), true)));
  EXPECT_THAT(request_, HasSubstr("POST /own "));
}

// Receivers that are not whom they pretend to be.
class FalseReceiverTest : public testing::Test {
 protected:
  struct Mode {
    const char* name;
    bool is_configured;  // the URL is that of the settings, and not the e-mail's own
    bool has_authority;  // the settings name whom to trust; otherwise those whom the system trusts
  };
  static constexpr Mode modes[] = {{"configured URL", true, true},
                                   {"configured URL, authorities of the system", true, false},
                                   {"URL of the e-mail", false, true},
                                   {"URL of the e-mail, authorities of the system", false, false}};

  Event call(const Mode& mode, std::uint16_t port) {
    const std::string url = "https://localhost:" + std::to_string(port) + "/hook";
    Policy policy;
    policy.default_callback_url = mode.is_configured ? url : "";
    const auto sender =
        CallbackSender::create(policy, clock_, *WebhookSigner::create("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
                               {.allow_private_addresses = true,
                                .certificate_file = mode.has_authority ? authority_.certificate_file() : "",
                                .shutdown_deadline = std::make_shared<net::ShutdownDeadline>()});
    EXPECT_TRUE(sender);
    Email email;
    email.id = "e1";
    email.state = State::calling_sent;
    email.settled_at = callback_start;
    email.callback_url = mode.is_configured ? "" : url;
    return (*sender)->work(email);
  }
  void expect_refused(const Mode& mode, std::uint16_t port) {
    const Event event = call(mode, port);
    const auto* failed = std::get_if<event::CallbackFailed>(&event);
    ASSERT_NE(failed, nullptr) << mode.name;
    EXPECT_FALSE(failed->permanent) << mode.name << ": the receiver may get a good certificate";
  }

  const base::ManualClock clock_{callback_start};
  const base::TemporaryDirectory directory_;
  net::TestAuthority authority_{directory_.path()};
};

TEST_F(FalseReceiverTest, WithAWrongCertificateGetsNothing) {
  const base::TemporaryDirectory elsewhere;
  net::TestAuthority stranger(elsewhere.path());
  const net::TlsFiles bad[] = {authority_.issue("DNS:other.example"), authority_.issue("DNS:localhost", -3600),
                               stranger.issue("DNS:localhost")};
  for (const Mode& mode : modes)
    for (const net::TlsFiles& files : bad) {
      smtp::ScriptServer receiver([&](smtp::ScriptPeer& peer) {
        if (peer.start_tls(files)) peer.expect_end();  // not one byte of a request
      });
      expect_refused(mode, receiver.port());
      receiver.finish();
    }
}

TEST_F(FalseReceiverTest, WithoutTlsGetsNothing) {
  for (const Mode& mode : modes) {
    std::string received;
    {
      net::RawServer receiver([&](net::RawPeer& peer) {
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        received = peer.receive_until("(never)");
      });
      expect_refused(mode, receiver.port());
    }
    for (const char* const part : {"POST", "webhook", "message_ids", "e1"})
      EXPECT_EQ(received.find(part), std::string::npos) << mode.name << ": " << part;
  }
}

TEST_F(FalseReceiverTest, ATrueOneGetsTheCallback) {
  const net::TlsFiles good = authority_.issue("DNS:localhost");
  for (const Mode& mode : modes) {
    smtp::ScriptServer receiver([&](smtp::ScriptPeer& peer) {
      if (!peer.start_tls(good)) return;
      if (!mode.has_authority) return peer.expect_end();
      EXPECT_EQ(peer.hear(), "POST /hook HTTP/1.1");
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    });
    EXPECT_EQ(std::holds_alternative<event::CallbackAcknowledged>(call(mode, receiver.port())), mode.has_authority)
        << mode.name;
    receiver.finish();
  }
}

TEST_F(CallbackSenderTest, AUrlThatIsNoneIsNotTriedAgain) {
  const event::CallbackFailed failed = failure("200 OK", "ftp://example.com/");
  EXPECT_THAT(failed.error, HasSubstr("the callback URL "));
  EXPECT_TRUE(failed.permanent);
}

}  // namespace
}  // namespace postino::outbox
