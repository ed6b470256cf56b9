#include <gmock/gmock.h>

#include <atomic>
#include <mutex>
#include <optional>

#include "base/many_threads_testing.h"
#include "base/temporary_directory.h"
#include "net/certificates_testing.h"
#include "smtp/client.h"
#include "smtp/script_testing.h"

namespace postino::smtp {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using OpenFailure = Session::OpenFailure;
using Opened = base::Result<std::unique_ptr<Session>, OpenFailure>;

Options options_for(const ScriptServer& server) {
  Options options;
  options.host = "127.0.0.1";
  options.port = server.port();
  options.tls = TlsPolicy::off;
  options.local_name = "client.example";
  return options;
}

// That opening failed, why, and that the client left without another word.
OpenFailure failure_of(
    const ScriptServer::Script& script, void (*change)(Options&) = [](Options&) {}) {
  ScriptServer server([&](ScriptPeer& peer) {
    script(peer);
    peer.expect_end();
  });
  Options options = options_for(server);
  change(options);
  Opened opened = Session::open(options, nullptr);
  EXPECT_FALSE(opened.has_value());
  server.finish();
  return opened ? OpenFailure{} : opened.error();
}

void expect_failure(const OpenFailure& failure, Stage stage, int code, const std::string& text) {
  EXPECT_EQ(failure.stage, stage);
  EXPECT_EQ(failure.reply.code, code);
  EXPECT_THAT(failure.reply.text, HasSubstr(text));
}

const ScriptServer::Script silence = [](ScriptPeer&) {};

TEST(SmtpOpening, GreetsAndIsUsable) {
  ScriptServer server([](ScriptPeer& peer) {
    peer.welcome("PIPELINING\nSIZE 1000");
    peer.expect("QUIT");
    peer.say("221 bye");
    peer.expect_end();
  });
  Opened opened = Session::open(options_for(server), nullptr);
  ASSERT_TRUE(opened.has_value()) << opened.error().reply.text;
  EXPECT_TRUE((*opened)->usable());
  (*opened)->quit();
  EXPECT_FALSE((*opened)->usable());
  opened->reset();
  server.finish();
}

TEST(SmtpOpening, FailsWithTheGreeting) {
  const OpenFailure refused = failure_of([](ScriptPeer& peer) { peer.say("554 5.7.1 not you"); });
  expect_failure(refused, Stage::connect, 554, "554 5.7.1 not you");
  EXPECT_EQ(refused.reply.enhanced, "5.7.1");
  expect_failure(failure_of([](ScriptPeer& peer) { peer.say("421 too busy"); }), Stage::connect, 421, "421 too busy");
}

TEST(SmtpOpening, FailsWhenTheServerClosesInsteadOfGreeting) {
  ScriptServer server(silence);
  const Opened opened = Session::open(options_for(server), nullptr);
  ASSERT_FALSE(opened.has_value());
  expect_failure(opened.error(), Stage::connect, 0, "the server closed the connection");
  server.finish();
}

TEST(SmtpOpening, FailsWithoutAServer) {
  Options options = options_for(ScriptServer(silence));
  const Opened refused = Session::open(options, nullptr);
  ASSERT_FALSE(refused.has_value());
  expect_failure(refused.error(), Stage::connect, 0, "127.0.0.1");
  options.host = "";
  const Opened nameless = Session::open(options, nullptr);
  ASSERT_FALSE(nameless.has_value());
  expect_failure(nameless.error(), Stage::connect, 0, "cannot find");
}

TEST(SmtpOpening, ReadsNothingButReplies) {
  const std::string_view not_a_reply = "is not a reply";
  for (const std::string_view garbage :
       {"hello\r\n", "\r\n", "22\r\n", "2200 hi\r\n", "120 soon\r\n", "620 hi\r\n", "220_hi\r\n",
        "HTTP/1.1 400 Bad\r\n", "-20 hi\r\n", "220-one\r\n\r\n", "\x16\x03\x01\n"}) {
    expect_failure(failure_of([&](ScriptPeer& peer) { peer.send(garbage); }), Stage::connect, 0,
                   std::string(not_a_reply));
  }
  expect_failure(failure_of([](ScriptPeer& peer) { peer.say("220-one\n554 two"); }), Stage::connect, 0, "two codes");
}

TEST(SmtpOpening, LimitsWhatAServerMaySay) {
  const auto long_line = [](std::size_t size) { return "220 " + std::string(size - 6, 'x') + "\r\n"; };
  expect_failure(failure_of([&](ScriptPeer& peer) { peer.send(long_line(2049)); }), Stage::connect, 0, "too long");
  expect_failure(failure_of([&](ScriptPeer& peer) { peer.send(std::string(10'000, '2')); }), Stage::connect, 0,
                 "too long");
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += "220-x\r\n";
  expect_failure(failure_of([&](ScriptPeer& peer) { peer.send(lines); }), Stage::connect, 0, "too many lines");

  ScriptServer server([&](ScriptPeer& peer) {
    for (int i = 0; i < 98; ++i) peer.say("220-x");
    peer.send("220-" + std::string(2000, 'y') + "\r\n");
    peer.send(long_line(2048));
    peer.answer_hello();
  });
  EXPECT_TRUE(Session::open(options_for(server), nullptr).has_value()) << "just within the limits";
  server.finish();
}

TEST(SmtpOpening, MakesTheReplyOnePrintableLine) {
  const OpenFailure many = failure_of(
      [](ScriptPeer& peer) { peer.send("554-5.7.1 one \n554-5.7.1  two\r\n554-\r\n554 5.7.1\t\x1B\xFF\r\n"); });
  EXPECT_EQ(many.reply.text, "554 5.7.1 one two 5.7.1  ?") << "a tab is no space behind a status";
  EXPECT_EQ(many.reply.enhanced, "5.7.1");

  const OpenFailure large = failure_of([](ScriptPeer& peer) { peer.say("554 " + std::string(1000, 'x')); });
  EXPECT_EQ(large.reply.text, "554 " + std::string(508, 'x'));

  const OpenFailure bare = failure_of([](ScriptPeer& peer) { peer.say("554"); });
  EXPECT_EQ(bare.reply.text, "554");
}

TEST(SmtpOpening, TakesAStatusOnlyWhereItIsOne) {
  const auto status = [](const std::string& text) {
    return failure_of([&](ScriptPeer& peer) { peer.say("554 " + text); }).reply.enhanced;
  };
  EXPECT_EQ(status("5.123.456 x"), "5.123.456");
  EXPECT_EQ(status("5.1.1"), "5.1.1");
  EXPECT_EQ(status("4.1.1 contradicts the code"), "");
  EXPECT_EQ(status("5.1 x"), "");
  EXPECT_EQ(status("5.1.1.1 x"), "");
  EXPECT_EQ(status("5.1.1234 x"), "");
  EXPECT_EQ(status("55.1.1 x"), "");
  EXPECT_EQ(status("5.1.1x"), "");
  EXPECT_EQ(status("x 5.1.1"), "");
}

TEST(SmtpOpening, SaysHeloToServersThatDoNotKnowEhlo) {
  ScriptServer server([](ScriptPeer& peer) {
    peer.say("220 hi");
    peer.expect("EHLO client.example");
    peer.say("502 what?");
    peer.expect("HELO client.example");
    peer.say("250 hi");
    peer.expect_end();
  });
  EXPECT_TRUE(Session::open(options_for(server), nullptr).has_value());
  server.finish();
}

TEST(SmtpOpening, FailsWithTheHello) {
  const auto refuse = [](std::string_view ehlo, std::string_view helo) {
    return failure_of([=](ScriptPeer& peer) {
      peer.say("220 hi");
      peer.expect("EHLO client.example");
      peer.say(ehlo);
      if (helo.empty()) return;
      peer.expect("HELO client.example");
      peer.say(helo);
    });
  };
  expect_failure(refuse("550 no", "550 5.7.1 I said no"), Stage::hello, 550, "550 5.7.1 I said no");
  expect_failure(refuse("451 later", ""), Stage::hello, 451, "451 later");
  expect_failure(refuse("421 enough", ""), Stage::hello, 421, "421 enough");
  expect_failure(refuse("nonsense", ""), Stage::hello, 0, "nonsense");
  expect_failure(failure_of([](ScriptPeer& peer) { peer.say("220 hi"); },
                            [](Options& options) { options.local_name = "a\r\nQUIT"; }),
                 Stage::hello, 0, "the name for EHLO");
}

TEST(SmtpOpening, DoesNotWaitForever) {
  const auto wait_in = [](const ScriptServer::Script& script, milliseconds timeout) {
    ScriptServer server([&](ScriptPeer& peer) {
      script(peer);
      peer.hang();
    });
    Options options = options_for(server);
    options.command_timeout = timeout;
    options.user = "user";
    const Opened opened = Session::open(options, nullptr);
    return opened ? OpenFailure{} : opened.error();
  };
  expect_failure(wait_in(silence, milliseconds(1)), Stage::connect, 0, "timed out");
  expect_failure(wait_in([](ScriptPeer& peer) { peer.send("220-slow"); }, milliseconds(1)), Stage::connect, 0,
                 "timed out");
  const auto wait_until = [&](Stage stage, const ScriptServer::Script& script) {
    OpenFailure failure;
    base::with_enough_time([&](milliseconds limit) {
      failure = wait_in(script, limit);
      return failure.stage == stage;
    });
    return failure;
  };
  expect_failure(wait_until(Stage::hello, [](ScriptPeer& peer) { peer.say("220 hi"); }), Stage::hello, 0, "timed out");
  const auto offer_login = [](ScriptPeer& peer) {
    peer.say("220 hi");
    peer.hear();
    peer.say("250-hi\n250 AUTH PLAIN");
  };
  expect_failure(wait_until(Stage::authenticate, offer_login), Stage::authenticate, 0, "timed out");
}

class SmtpTls : public ::testing::Test {
 protected:
  std::shared_ptr<net::ClientTls> context(bool verify = true) {
    auto made = net::ClientTls::create({verify, verify ? authority_.certificate_file() : ""});
    EXPECT_TRUE(made.has_value());
    return *made;
  }
  Opened open(const ScriptServer& server, TlsPolicy policy, const std::string& host = "localhost") {
    Options options = options_for(server);
    options.tls = policy;
    options.host = host;
    return Session::open(options, context(policy != TlsPolicy::opportunistic));
  }
  ScriptServer::Script encrypt(const net::TlsFiles& files) {
    return [files](ScriptPeer& peer) {
      peer.welcome("STARTTLS");
      peer.expect_alone("STARTTLS");
      peer.say("220 go on");
      if (!peer.start_tls(files)) return;
      peer.answer_hello();
      peer.take_message();
      peer.expect_end();
    };
  }

  base::TemporaryDirectory directory_;
  net::TestAuthority authority_{directory_.path()};
  net::TlsFiles files_ = authority_.issue("DNS:localhost");
};

const Envelope to_ann{"from@example.com", {"ann@example.com"}, ""};

TEST_F(SmtpTls, EncryptsWhenItIsOffered) {
  for (const TlsPolicy policy : {TlsPolicy::opportunistic, TlsPolicy::required}) {
    ScriptServer server(encrypt(files_));
    Opened opened = open(server, policy);
    ASSERT_TRUE(opened.has_value()) << opened.error().reply.text;
    EXPECT_EQ((*opened)->send(to_ann, "hello\r\n", nullptr).severity, Severity::success);
    EXPECT_TRUE((*opened)->usable());
    opened->reset();
    server.finish();
  }
}

TEST_F(SmtpTls, ForgetsWhatWasSaidInTheClear) {
  for (const bool knows_ehlo : {true, false}) {
    ScriptServer server([&](ScriptPeer& peer) {
      peer.welcome("STARTTLS\nPIPELINING\nSIZE 5\nAUTH PLAIN");
      peer.expect_alone("STARTTLS");
      peer.say("220 go on");
      ASSERT_TRUE(peer.start_tls(files_));
      if (knows_ehlo) {
        peer.answer_hello();
      } else {
        peer.expect("EHLO client.example");
        peer.say("500 what?");
        peer.expect("HELO client.example");
        peer.say("250 hi");
      }
      peer.expect_alone("MAIL FROM:<from@example.com>");
      peer.say("550 no");
      peer.expect_end();
    });
    Opened opened = open(server, TlsPolicy::required);
    ASSERT_TRUE(opened.has_value());
    (*opened)->send(to_ann, "a message of more than five bytes\r\n", nullptr);
    opened->reset();
    server.finish();
  }
}

TEST_F(SmtpTls, IsNotLeftOutWhenRequired) {
  ScriptServer server([](ScriptPeer& peer) {
    peer.welcome("PIPELINING");
    peer.expect_end();
  });
  const Opened opened = open(server, TlsPolicy::required, "127.0.0.1");
  ASSERT_FALSE(opened.has_value());
  expect_failure(opened.error(), Stage::start_tls, 0, "does not offer STARTTLS");
  server.finish();

  ScriptServer refusing([](ScriptPeer& peer) {
    peer.welcome("STARTTLS");
    peer.expect("STARTTLS");
    peer.say("454 4.7.0 not now");
    peer.expect_end();
  });
  const Opened refused = open(refusing, TlsPolicy::required, "127.0.0.1");
  ASSERT_FALSE(refused.has_value());
  expect_failure(refused.error(), Stage::start_tls, 454, "454 4.7.0 not now");
  refusing.finish();
}

TEST_F(SmtpTls, IsLeftOutWhenItIsNotOfferedAndNotRequired) {
  ScriptServer server([](ScriptPeer& peer) {
    peer.welcome("PIPELINING");
    peer.expect_end();
  });
  EXPECT_TRUE(open(server, TlsPolicy::opportunistic).has_value());
  server.finish();
}

TEST_F(SmtpTls, WantsAValidCertificateWhenRequired) {
  base::TemporaryDirectory elsewhere;
  net::TestAuthority stranger(elsewhere.path());
  const net::TlsFiles bad[] = {authority_.issue("DNS:other.example"), authority_.issue("DNS:localhost", -3600),
                               stranger.issue("DNS:localhost")};
  for (const net::TlsFiles& files : bad) {
    for (const TlsPolicy policy : {TlsPolicy::required, TlsPolicy::implicit}) {
      ScriptServer server([&](ScriptPeer& peer) {
        if (policy == TlsPolicy::required) return encrypt(files)(peer);
        if (peer.start_tls(files)) peer.expect_end();  // it is the client that looks at certificates
      });
      const Opened opened = open(server, policy);
      ASSERT_FALSE(opened.has_value());
      expect_failure(opened.error(), Stage::start_tls, 0, "certificate");
      server.finish();
    }
  }
}

TEST_F(SmtpTls, TakesAnyCertificateWhenNotRequired) {
  ScriptServer server(encrypt(authority_.issue("DNS:other.example", -3600)));
  Opened opened = open(server, TlsPolicy::opportunistic);
  ASSERT_TRUE(opened.has_value()) << opened.error().reply.text;
  EXPECT_EQ((*opened)->send(to_ann, "hello\r\n", nullptr).severity, Severity::success);
  opened->reset();
  server.finish();
}

TEST_F(SmtpTls, FallsBackToANewConnectionWhenNotRequired) {
  for (const std::string_view answer : {"220 go on", "454 not now", "500 what?"}) {
    ScriptServer server([&](ScriptPeer& peer) {
      peer.welcome("STARTTLS");
      if (peer.number() == 1) {
        peer.expect("STARTTLS");
        peer.say(answer);  // and it closes, whatever comes
      } else {
        peer.take_message();
        peer.expect_end();
      }
    });
    Opened opened = open(server, TlsPolicy::opportunistic);
    ASSERT_TRUE(opened.has_value()) << opened.error().reply.text;
    EXPECT_EQ((*opened)->send(to_ann, "hello\r\n", nullptr).severity, Severity::success);
    opened->reset();
    server.finish(2);
  }
}

TEST_F(SmtpTls, RefusesWhatIsInjectedBehindTheReplyToStartTls) {
  for (const TlsPolicy policy : {TlsPolicy::required, TlsPolicy::opportunistic}) {
    ScriptServer server([](ScriptPeer& peer) {
      peer.welcome("STARTTLS");
      peer.expect("STARTTLS");
      peer.send("220 go on\r\n250 AUTH PLAIN\r\n");
      peer.expect_end();
    });
    const Opened opened = open(server, policy, "127.0.0.1");
    ASSERT_FALSE(opened.has_value());
    expect_failure(opened.error(), Stage::start_tls, 0, "unencrypted data");
    server.finish();
  }
}

TEST_F(SmtpTls, CanBeginWithTheFirstByte) {
  ScriptServer server([this](ScriptPeer& peer) {
    ASSERT_TRUE(peer.start_tls(files_));
    peer.welcome("PIPELINING\nSTARTTLS");
    peer.take_message();
    peer.expect_end();
  });
  Opened opened = open(server, TlsPolicy::implicit);
  ASSERT_TRUE(opened.has_value()) << opened.error().reply.text;
  EXPECT_EQ((*opened)->send(to_ann, "hello\r\n", nullptr).severity, Severity::success);
  opened->reset();
  server.finish();
}

void ask_for_password(Options& options) {
  options.user = "user";
  options.password = "secret";
}

TEST(SmtpLogin, UsesPlain) {
  ScriptServer server([](ScriptPeer& peer) {
    peer.welcome("AUTH LOGIN PLAIN");
    peer.expect("AUTH PLAIN AHVzZXIAc2VjcmV0");  // base64 of \0user\0secret
    if (peer.number() == 2) {
      peer.say("334 ");
      peer.expect("AHVzZXIAc2VjcmV0");
    }
    peer.say("235 2.7.0 welcome");
    peer.expect_end();
  });
  Options options = options_for(server);
  ask_for_password(options);
  EXPECT_TRUE(Session::open(options, nullptr).has_value());
  EXPECT_TRUE(Session::open(options, nullptr).has_value()) << "a server that asks again";
  server.finish(2);
}

TEST(SmtpLogin, UsesLoginWhereThereIsNoPlain) {
  ScriptServer server([](ScriptPeer& peer) {
    peer.welcome("AUTH CRAM-MD5 LOGIN");
    peer.expect("AUTH LOGIN");
    peer.say("334 VXNlcm5hbWU6");
    peer.expect("dXNlcg==");
    peer.say("334 UGFzc3dvcmQ6");
    peer.expect("c2VjcmV0");
    peer.say("235 2.7.0 welcome");
    peer.expect_end();
  });
  Options options = options_for(server);
  ask_for_password(options);
  EXPECT_TRUE(Session::open(options, nullptr).has_value());
  server.finish();
}

TEST(SmtpLogin, FailsWhenItIsRefused) {
  const auto refuse = [](std::string_view capabilities, int answers, std::string_view reply) {
    return failure_of(
        [=](ScriptPeer& peer) {
          peer.welcome(capabilities);
          for (int i = 0; i < answers; ++i) {
            peer.hear();
            peer.say("334 ");
          }
          peer.hear();
          peer.say(reply);
        },
        ask_for_password);
  };
  const std::string no = "535 5.7.8 who are you?";
  expect_failure(refuse("AUTH PLAIN", 0, no), Stage::authenticate, 535, no);
  expect_failure(refuse("AUTH LOGIN", 0, no), Stage::authenticate, 535, no);
  expect_failure(refuse("AUTH LOGIN", 1, no), Stage::authenticate, 535, no);
  expect_failure(refuse("AUTH LOGIN", 2, no), Stage::authenticate, 535, no);
  expect_failure(refuse("AUTH LOGIN", 2, "334 and now?"), Stage::authenticate, 334, "and now?");
  expect_failure(failure_of([](ScriptPeer& peer) { peer.welcome("AUTH GSSAPI"); }, ask_for_password),
                 Stage::authenticate, 0, "neither AUTH PLAIN nor AUTH LOGIN");
}

// An attacker answers in the mail server's place. He offers TLS with his own certificate, or none, and wants the
// password.
class FalseSmtpServer : public SmtpTls {
 protected:
  // What it heard after EHLO, decrypted.
  std::string heard(TlsPolicy policy, const std::optional<net::TlsFiles>& files, bool password_to_anyone = false) {
    std::mutex mutex;
    std::string all;
    const auto listen = [&](ScriptPeer& peer) {
      for (std::string line = peer.hear(); line != "(end)"; line = peer.hear()) {
        const std::lock_guard lock(mutex);
        all += line + "\n";
        peer.say(line.starts_with("AUTH") ? "235 2.7.0 welcome" : "250 fine");
      }
    };
    ScriptServer server([&](ScriptPeer& peer) {
      if (policy == TlsPolicy::implicit) {
        if (!files || !peer.start_tls(*files)) return;
        peer.welcome("AUTH PLAIN LOGIN");
        return listen(peer);
      }
      peer.welcome(files ? "STARTTLS\nAUTH PLAIN LOGIN" : "AUTH PLAIN LOGIN");
      if (!files || policy == TlsPolicy::off) return listen(peer);
      if (peer.hear() != "STARTTLS") return;
      peer.say("220 go on");
      if (!peer.start_tls(*files)) return;
      peer.answer_hello("AUTH PLAIN LOGIN");
      listen(peer);
    });
    Options options = options_for(server);
    options.host = "localhost";
    options.tls = policy;
    options.connect_timeout = options.command_timeout = base::test_patience;
    options.password_to_anyone = password_to_anyone;
    options.user = "user";
    options.password = "secret";
    const bool verify = followed_policy(options) != TlsPolicy::opportunistic;
    { const Opened opened = Session::open(options, context(verify)); }
    server.finish();
    const std::lock_guard lock(mutex);
    return all;
  }

  const std::string password_line = "AUTH PLAIN AHVzZXIAc2VjcmV0";  // base64 of \0user\0secret
};

TEST_F(FalseSmtpServer, WithAnInvalidCertificateGetsNoPassword) {
  const base::TemporaryDirectory elsewhere;
  net::TestAuthority stranger(elsewhere.path());
  for (const TlsPolicy policy : {TlsPolicy::opportunistic, TlsPolicy::required, TlsPolicy::implicit}) {
    EXPECT_THAT(heard(policy, stranger.issue("DNS:localhost")), Not(HasSubstr("AUTH"))) << static_cast<int>(policy);
    EXPECT_THAT(heard(policy, authority_.issue("DNS:elsewhere.example")), Not(HasSubstr("AUTH")))
        << static_cast<int>(policy);
    EXPECT_THAT(heard(policy, authority_.issue("DNS:localhost")), HasSubstr(password_line)) << "that is the right one";
  }
}

TEST_F(FalseSmtpServer, WithoutTlsGetsNoPasswordUnlessTlsIsOff) {
  for (const TlsPolicy policy : {TlsPolicy::opportunistic, TlsPolicy::required, TlsPolicy::implicit})
    EXPECT_THAT(heard(policy, std::nullopt), Not(HasSubstr("AUTH"))) << static_cast<int>(policy);
  EXPECT_THAT(heard(TlsPolicy::off, std::nullopt), HasSubstr(password_line)) << "it stays on this machine";
}

TEST_F(FalseSmtpServer, GetsThePasswordWhereItIsForAnyone) {
  const base::TemporaryDirectory elsewhere;
  net::TestAuthority stranger(elsewhere.path());
  EXPECT_THAT(heard(TlsPolicy::opportunistic, stranger.issue("DNS:localhost"), true), HasSubstr(password_line));
  EXPECT_THAT(heard(TlsPolicy::opportunistic, std::nullopt, true), HasSubstr(password_line));
  EXPECT_THAT(heard(TlsPolicy::required, stranger.issue("DNS:localhost"), true), Not(HasSubstr("AUTH")));
}

}  // namespace
}  // namespace postino::smtp
