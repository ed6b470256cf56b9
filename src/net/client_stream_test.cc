#include "net/client_stream.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <future>

#include "base/check.h"
#include "base/many_threads_testing.h"
#include "base/temporary_directory.h"
#include "net/certificates_testing.h"
#include "net/raw_server_testing.h"
#include "net/tls.h"

namespace postino::net {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Deadline in_sixty_milliseconds() { return std::chrono::steady_clock::now() + std::chrono::milliseconds(60); }

Address local(std::uint16_t port) { return {"127.0.0.1", port}; }

std::unique_ptr<ClientStream> connect_to(std::uint16_t port) {
  auto stream = ClientStream::connect(local(port), deadline_in(std::chrono::seconds(60)));
  CHECK(stream.has_value());
  return *std::move(stream);
}

template <class T>
std::string stream_problem(const base::Result<T>& result) {
  if (result) return "none";
  EXPECT_EQ(result.error().code, base::ErrorCode::io);
  return result.error().message;
}

// All that comes until the end, or so many bytes.
std::string read_text(ClientStream& stream, std::size_t limit = std::string::npos) {
  std::string text;
  std::vector<char> buffer(64 << 10);
  while (text.size() < limit) {
    const auto count = stream.read_some(buffer.data(), std::min(buffer.size(), limit - text.size()),
                                        deadline_in(std::chrono::seconds(60)));
    if (!count) return text + "(" + count.error().message + ")";
    if (*count == 0) break;
    text.append(buffer.data(), *count);
  }
  return text;
}

bool becomes_stale(const ClientStream& stream) {
  const Deadline deadline = deadline_in(std::chrono::seconds(60));
  while (!stream.is_stale())
    if (std::chrono::steady_clock::now() > deadline) return false;
  return true;
}

// Writes until it fails; the reason.
std::string exhaust(ClientStream& stream, Deadline deadline) {
  const std::string block(1 << 20, 'x');
  for (int i = 0; i < 1000; ++i)
    if (const auto written = stream.write(block, deadline); !written) return stream_problem(written);
  return "none";
}

std::string large_text() {
  std::string text(4 << 20, 'x');
  for (std::size_t i = 0; i < text.size(); i += 1000) text[i] = static_cast<char>('a' + i / 1000 % 26);
  return text + ".";
}

// Whether a thread of this process waits for something.
bool is_waiting(pid_t thread) {
  std::string number, name, state;
  std::ifstream("/proc/self/task/" + std::to_string(thread) + "/stat") >> number >> name >> state;
  return state == "S";
}

TEST(ClientStream, NoCallerWaitsBeyondTheShutdownDeadline) {
  RawServer server([](RawPeer& peer) { peer.wait_for_end(); });
  const auto shutdown_deadline = std::make_shared<ShutdownDeadline>();
  auto stream = ClientStream::connect(local(server.port()), deadline_in(std::chrono::hours(1)), shutdown_deadline);
  ASSERT_TRUE(stream);
  std::atomic<pid_t> reader = 0;
  auto reading = std::async(std::launch::async, [&] {
    char byte = 0;
    reader = ::gettid();
    return stream_problem((*stream)->read_some(&byte, 1, deadline_in(std::chrono::hours(1))));
  });
  EXPECT_TRUE(base::eventually([&] { return reader != 0 && is_waiting(reader); }));
  shutdown_deadline->begin_at(in_sixty_milliseconds());
  EXPECT_EQ(reading.get(), "timed out");
  EXPECT_EQ(stream_problem((*stream)->write("late", deadline_in(std::chrono::hours(1)))), "timed out");
  EXPECT_THAT(stream_problem(
                  ClientStream::connect(local(server.port()), deadline_in(std::chrono::hours(1)), shutdown_deadline)),
              HasSubstr("timed out"));
}

TEST(ClientStreamTest, CarriesBytesBothWays) {
  RawServer server([](RawPeer& peer) { peer.send(peer.receive_until(".")); });
  const auto stream = connect_to(server.port());
  const std::string text = large_text();
  EXPECT_EQ(stream_problem(stream->write(text, deadline_in(std::chrono::seconds(60)))), "none");
  EXPECT_TRUE(read_text(*stream) == text);
  char byte = 0;
  EXPECT_EQ(stream->read_some(&byte, 1, deadline_in(std::chrono::seconds(60))), 0U) << "the end stays the end";
  EXPECT_FALSE(stream->secure());
}

TEST(ClientStreamTest, SaysWhyItCannotConnect) {
  const base::Descriptor deaf(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(deaf.number(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::getsockname(deaf.number(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const Address to = local(ntohs(address.sin_port));
  EXPECT_EQ(stream_problem(ClientStream::connect(to, deadline_in(std::chrono::seconds(60)))),
            "cannot connect to " + to.text() + ": connection refused");
  EXPECT_EQ(ClientStream::connect(to, deadline_in(std::chrono::seconds(60))).error().rule, base::Rule::listening);
  EXPECT_EQ(stream_problem(ClientStream::connect(to, Deadline())), "cannot connect to " + to.text() + ": timed out");
  EXPECT_EQ(stream_problem(ClientStream::connect({"localhost", 1}, deadline_in(std::chrono::seconds(60)))),
            "cannot connect to localhost:1: not an IP address");
}

TEST(ClientStreamTest, GivesUpOnAServerThatDoesNotTakeConnections) {
  const base::Descriptor full(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(full.number(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(full.number(), 0), 0);
  ASSERT_EQ(::getsockname(full.number(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  std::vector<std::unique_ptr<ClientStream>> waiting;
  std::string reason = "none";
  for (int i = 0; i < 20 && reason == "none"; ++i) {
    auto stream = ClientStream::connect(local(ntohs(address.sin_port)), in_sixty_milliseconds());
    reason = stream_problem(stream);
    if (stream) waiting.push_back(*std::move(stream));
  }
  EXPECT_THAT(reason, testing::EndsWith(": timed out"));
}

TEST(ClientStreamTest, EndsReadingAtTheDeadlineAndCanReadOn) {
  RawServer server([](RawPeer& peer) {
    peer.receive_until("go");
    peer.send("hello");
  });
  const auto stream = connect_to(server.port());
  char byte = 0;
  EXPECT_EQ(stream_problem(stream->read_some(&byte, 1, in_sixty_milliseconds())), "timed out");
  EXPECT_EQ(stream_problem(stream->write("go", deadline_in(std::chrono::seconds(60)))), "none");
  EXPECT_EQ(read_text(*stream), "hello");
}

TEST(ClientStreamTest, EndsAtTheDeadlineThoughThereIsSomethingToRead) {
  RawServer server([](RawPeer& peer) {
    peer.send("hello");
    peer.wait_for_end();
  });
  const auto stream = connect_to(server.port());
  EXPECT_EQ(read_text(*stream, 1), "h");
  char byte = 0;
  EXPECT_EQ(stream_problem(stream->read_some(&byte, 1, Deadline())), "timed out");
  EXPECT_EQ(stream_problem(stream->write("go", Deadline())), "timed out");
  EXPECT_EQ(read_text(*stream, 4), "ello");
}

TEST(ClientStreamTest, EndsWritingAtTheDeadline) {
  std::promise<void> over;
  RawServer server([&](RawPeer&) { over.get_future().wait(); });
  const auto stream = connect_to(server.port());
  EXPECT_EQ(exhaust(*stream, in_sixty_milliseconds()), "timed out");
  over.set_value();
}

// A signal would end this program.
TEST(ClientStreamTest, WritingToAServerThatIsGoneIsAnErrorAndNoSignal) {
  RawServer server([](RawPeer& peer) {
    peer.receive_until("go");
    peer.end_with_reset();
  });
  const auto stream = connect_to(server.port());
  EXPECT_EQ(stream_problem(stream->write("go", deadline_in(std::chrono::seconds(60)))), "none");
  EXPECT_THAT(exhaust(*stream, deadline_in(std::chrono::seconds(60))),
              testing::AnyOf("connection reset by peer", "broken pipe"));
  EXPECT_THAT(exhaust(*stream, deadline_in(std::chrono::seconds(60))),
              testing::AnyOf("connection reset by peer", "broken pipe"));
}

TEST(ClientStreamTest, ABrokenConnectionIsNotAnEnd) {
  RawServer server([](RawPeer& peer) {
    peer.receive_until("go");
    peer.end_with_reset();
  });
  const auto stream = connect_to(server.port());
  EXPECT_EQ(stream_problem(stream->write("go", deadline_in(std::chrono::seconds(60)))), "none");
  EXPECT_EQ(read_text(*stream), "(connection reset by peer)");
}

TEST(ClientStreamTest, IsStaleWhenTheServerCloses) {
  RawServer server([](RawPeer& peer) { peer.receive_until("go"); });
  const auto stream = connect_to(server.port());
  EXPECT_FALSE(stream->is_stale());
  EXPECT_EQ(stream_problem(stream->write("go", deadline_in(std::chrono::seconds(60)))), "none");
  EXPECT_TRUE(becomes_stale(*stream));
}

TEST(ClientStreamTest, IsStaleWhenTheServerSpeaksUnasked) {
  RawServer server([](RawPeer& peer) {
    peer.send("421 good-bye");
    peer.wait_for_end();
  });
  const auto stream = connect_to(server.port());
  EXPECT_TRUE(becomes_stale(*stream));
  EXPECT_EQ(read_text(*stream, 12), "421 good-bye") << "looking takes nothing away";
}

class ClientTlsTest : public ::testing::Test {
 protected:
  // A server over TLS that sends back what comes first, and closes. The transport waits, since the socket does.
  static std::unique_ptr<RawServer> serve(const TlsFiles& tls) {
    auto loaded = TlsContext::load(tls);
    CHECK(loaded.has_value());
    return std::make_unique<RawServer>([context = std::shared_ptr<TlsContext>(*std::move(loaded))](RawPeer& peer) {
      const auto transport = context->make_transport(peer.descriptor());
      if (transport->handshake() != TransferStatus::done) return;
      std::string bytes(100, ' ');
      const Transfer transfer = transport->read(bytes.data(), bytes.size());
      if (transfer.status != TransferStatus::done) return;
      transport->write(std::string_view(bytes).substr(0, transfer.bytes), {});
      transport->finish();
    });
  }

  std::shared_ptr<ClientTls> trusting() { return make({.certificate_file = authority.certificate_file()}); }

  static std::shared_ptr<ClientTls> make(const ClientTlsOptions& options) {
    auto tls = ClientTls::create(options);
    CHECK(tls.has_value());
    return *std::move(tls);
  }

  // What comes back of "hello" over TLS, or why nothing does.
  static std::string ask(const RawServer& server, const ClientTls& tls, const std::string& name) {
    const auto stream = connect_to(server.port());
    if (const auto started = stream->start_tls(tls, name, deadline_in(std::chrono::seconds(60))); !started)
      return stream_problem(started);
    EXPECT_TRUE(stream->secure());
    EXPECT_EQ(stream_problem(stream->write("hello", deadline_in(std::chrono::seconds(60)))), "none");
    return read_text(*stream);
  }

  // A server over TLS with full control over what happens. The transport waits, since the socket does.
  RawServer::Script over_tls(std::function<void(RawPeer&, Transport&)> script) {
    return [this, script = std::move(script)](RawPeer& peer) {
      const auto transport = (*context)->make_transport(peer.descriptor());
      if (transport->handshake() == TransferStatus::done) script(peer, *transport);
    };
  }

  std::unique_ptr<ClientStream> connect_securely(const RawServer& server) {
    auto stream = connect_to(server.port());
    CHECK(stream->start_tls(*trusting(), "localhost", deadline_in(std::chrono::seconds(60))).has_value());
    return stream;
  }

  base::TemporaryDirectory directory;
  TestAuthority authority{directory.path()};
  TlsFiles files = authority.issue("DNS:localhost, DNS:*.example.com, IP:127.0.0.1, IP:::1");
  base::Result<std::unique_ptr<TlsContext>> context = TlsContext::load(files);
};

TEST_F(ClientTlsTest, TakesACertificateForTheName) {
  const auto server = serve(files);
  const auto tls = trusting();
  for (const std::string name : {"localhost", "LOCALHOST", "localhost.", "a.example.com", "127.0.0.1", "::1"})
    EXPECT_EQ(ask(*server, *tls, name), "hello") << name;
}

TEST_F(ClientTlsTest, RefusesACertificateForAnotherName) {
  const auto server = serve(files);
  const auto tls = trusting();
  for (const std::string name : {"example.com", "a.b.example.com", "localhost.example.org", "server"})
    EXPECT_EQ(ask(*server, *tls, name),
              "the server's certificate is not accepted for '" + name + "': hostname mismatch");
  for (const std::string name : {"127.0.0.2", "::2"})
    EXPECT_EQ(ask(*server, *tls, name),
              "the server's certificate is not accepted for '" + name + "': IP address mismatch");
}

TEST_F(ClientTlsTest, NoNameIsNotAnyName) {
  const auto server = serve(files);
  for (const std::string& name : {std::string(), std::string("."), std::string("localhost\0x", 11)})
    EXPECT_THAT(ask(*server, *trusting(), name), HasSubstr("no certificate can be for the name"));
}

TEST_F(ClientTlsTest, RefusesACertificateOfAnUnknownAuthority) {
  const base::TemporaryDirectory elsewhere;
  TestAuthority other(elsewhere.path());
  const auto server = serve(other.issue("DNS:localhost"));
  const std::string refusal = "the server's certificate is not accepted for 'localhost': ";
  EXPECT_THAT(ask(*server, *trusting(), "localhost"), testing::StartsWith(refusal));
  EXPECT_THAT(ask(*server, *make({}), "localhost"), testing::StartsWith(refusal)) << "the system does not know it";
}

TEST_F(ClientTlsTest, RefusesACertificateThatIsSignedByItself) {
  const Key key = make_key();
  write_key(key, files.private_key);
  write_certificate({.key = key.get(), .names = "DNS:localhost"}, files.certificate_chain);
  const auto server = serve(files);
  EXPECT_EQ(ask(*server, *trusting(), "localhost"),
            "the server's certificate is not accepted for 'localhost': self-signed certificate");
  EXPECT_EQ(ask(*server, *make({.certificate_file = files.certificate_chain}), "localhost"), "hello")
      << "unless it is trusted itself";
}

TEST_F(ClientTlsTest, RefusesACertificateThatHasExpired) {
  const auto server = serve(authority.issue("DNS:localhost", -60));
  EXPECT_EQ(ask(*server, *trusting(), "localhost"),
            "the server's certificate is not accepted for 'localhost': certificate has expired");
}

TEST_F(ClientTlsTest, TakesAnyCertificateWhenItDoesNotVerify) {
  const base::TemporaryDirectory elsewhere;
  TestAuthority other(elsewhere.path());
  const auto server = serve(other.issue("DNS:other.example", -60));
  const auto tls = make({.verify = false});
  for (const std::string name : {"localhost", "127.0.0.1", ""}) EXPECT_EQ(ask(*server, *tls, name), "hello");
}

TEST_F(ClientTlsTest, AnnouncesNamesButNotAddresses) {
  std::promise<std::string> hello;
  const auto announce = [&](const std::string& name) {
    hello = {};
    RawServer server([&](RawPeer& peer) {
      EXPECT_TRUE(peer.is_readable(60'000));
      std::string bytes(4096, '\0');
      bytes.resize(static_cast<std::size_t>(::recv(peer.descriptor(), bytes.data(), bytes.size(), 0)));
      hello.set_value(bytes);
    });
    const auto stream = connect_to(server.port());
    EXPECT_EQ(stream_problem(stream->start_tls(*trusting(), name, deadline_in(std::chrono::seconds(60)))),
              "the server has closed the connection instead of starting TLS with '" + name + "'");
    return hello.get_future().get();
  };
  EXPECT_THAT(announce("mail.example.com"), HasSubstr("mail.example.com"));
  EXPECT_THAT(announce("mail.example.com."), Not(HasSubstr("example.com.")));
  EXPECT_THAT(announce("192.0.2.77"), Not(HasSubstr("192.0.2.77")));
  EXPECT_THAT(announce("2001:db8::77"), Not(HasSubstr("2001:db8::77")));
}

TEST_F(ClientTlsTest, GivesUpOnAHandshakeThatDoesNotEnd) {
  RawServer server([](RawPeer& peer) { peer.wait_for_end(); });
  const auto stream = connect_to(server.port());
  EXPECT_EQ(stream_problem(stream->start_tls(*trusting(), "localhost", in_sixty_milliseconds())), "timed out");
  EXPECT_NE(stream_problem(stream->write("secret", deadline_in(std::chrono::seconds(60)))), "none")
      << "nothing goes out without TLS";
}

TEST_F(ClientTlsTest, RefusesAServerThatDoesNotSpeakTls) {
  RawServer server([](RawPeer& peer) {
    peer.send("220 welcome to plain SMTP\r\n");
    peer.wait_for_end();
  });
  const auto stream = connect_to(server.port());
  EXPECT_EQ(stream_problem(stream->start_tls(*trusting(), "localhost", deadline_in(std::chrono::seconds(60)))),
            "TLS: wrong version number");
  EXPECT_NE(stream_problem(stream->write("secret", deadline_in(std::chrono::seconds(60)))), "none");
}

TEST_F(ClientTlsTest, StartsInTheMiddleOfAConversation) {
  RawServer server([&](RawPeer& peer) {
    peer.receive_until("STARTTLS\r\n");
    peer.send("220 go\r\n");
    over_tls([](RawPeer&, Transport& transport) { transport.write("encrypted", {}); })(peer);
  });
  const auto stream = connect_to(server.port());
  EXPECT_EQ(stream_problem(stream->write("STARTTLS\r\n", deadline_in(std::chrono::seconds(60)))), "none");
  EXPECT_EQ(read_text(*stream, 8), "220 go\r\n");
  const auto tls = trusting();
  EXPECT_EQ(stream_problem(stream->start_tls(*tls, "localhost", deadline_in(std::chrono::seconds(60)))), "none");
  EXPECT_EQ(stream_problem(stream->start_tls(*tls, "localhost", deadline_in(std::chrono::seconds(60)))),
            "TLS has been started before");
  EXPECT_EQ(read_text(*stream), "encrypted");
}

TEST_F(ClientTlsTest, WhatCameInTheClearDoesNotPassForEncrypted) {
  RawServer server([&](RawPeer& peer) {
    peer.send("220 go\r\n250 injected\r\n");
    over_tls([](RawPeer&, Transport& transport) { transport.write("encrypted", {}); })(peer);
  });
  const auto stream = connect_to(server.port());
  EXPECT_EQ(read_text(*stream, 8), "220 go\r\n");
  EXPECT_NE(stream_problem(stream->start_tls(*trusting(), "localhost", deadline_in(std::chrono::seconds(60)))), "none");
  EXPECT_THAT(read_text(*stream), Not(HasSubstr("injected")));
}

TEST_F(ClientTlsTest, CarriesLargeTexts) {
  const std::string text = large_text();
  RawServer server(over_tls([&](RawPeer&, Transport& transport) {
    std::string received;
    std::vector<char> buffer(64 << 10);
    while (received.size() < text.size()) {
      const Transfer transfer = transport.read(buffer.data(), buffer.size());
      if (transfer.status != TransferStatus::done) break;
      received.append(buffer.data(), transfer.bytes);
    }
    for (std::string_view left = received; !left.empty();) left.remove_prefix(transport.write(left, {}).bytes);
    transport.finish();
  }));
  const auto stream = connect_securely(server);
  EXPECT_EQ(stream_problem(stream->write(text, deadline_in(std::chrono::seconds(60)))), "none");
  EXPECT_TRUE(read_text(*stream) == text);
}

TEST_F(ClientTlsTest, AnEndWithoutAnnouncementIsAnEnd) {
  RawServer server(over_tls([](RawPeer&, Transport& transport) { transport.write("last words", {}); }));
  const auto stream = connect_securely(server);
  EXPECT_EQ(read_text(*stream), "last words");
  char byte = 0;
  EXPECT_EQ(stream->read_some(&byte, 1, deadline_in(std::chrono::seconds(60))), 0U);
}

TEST_F(ClientTlsTest, SaysGoodBye) {
  std::promise<std::string> last_bytes;
  RawServer server(over_tls([&](RawPeer& peer, Transport& transport) {
    transport.write("hello", {});
    last_bytes.set_value(peer.receive_until("never"));
  }));
  auto stream = connect_securely(server);
  EXPECT_EQ(read_text(*stream, 5), "hello");
  stream.reset();
  EXPECT_THAT(last_bytes.get_future().get(), testing::StartsWith("\x17\x03\x03")) << "a record of TLS 1.3";
}

TEST_F(ClientTlsTest, CanReadOnAfterTheDeadline) {
  RawServer server(over_tls([](RawPeer&, Transport& transport) {
    char byte = 0;
    transport.read(&byte, 1);
    transport.write("hello", {});
  }));
  const auto stream = connect_securely(server);
  char byte = 0;
  EXPECT_EQ(stream_problem(stream->read_some(&byte, 1, in_sixty_milliseconds())), "timed out");
  EXPECT_EQ(stream_problem(stream->write("x", deadline_in(std::chrono::seconds(60)))), "none");
  EXPECT_EQ(read_text(*stream), "hello");
}

TEST_F(ClientTlsTest, EndsWritingAtTheDeadlineForGood) {
  std::promise<void> over;
  RawServer server(over_tls([&](RawPeer&, Transport&) { over.get_future().wait(); }));
  const auto stream = connect_securely(server);
  EXPECT_EQ(exhaust(*stream, in_sixty_milliseconds()), "timed out");
  EXPECT_EQ(exhaust(*stream, deadline_in(std::chrono::seconds(60))), "the connection is broken");
  EXPECT_TRUE(stream->is_stale());
  over.set_value();
}

TEST_F(ClientTlsTest, WritingToAServerThatIsGoneIsAnErrorAndNoSignal) {
  RawServer server(over_tls([](RawPeer& peer, Transport&) { peer.end_with_reset(); }));
  const auto stream = connect_securely(server);
  EXPECT_THAT(exhaust(*stream, deadline_in(std::chrono::seconds(60))),
              testing::AnyOf("connection reset by peer", "broken pipe"));
}

// After the handshake a server sends tickets to resume the session by. They are not for the caller.
TEST_F(ClientTlsTest, TicketsDoNotMakeItStaleButBytesDo) {
  std::promise<void> shaken;
  std::promise<void> go_on;
  RawServer server(over_tls([&](RawPeer& peer, Transport& transport) {
    shaken.set_value();
    go_on.get_future().wait();
    transport.write("unasked", {});
    peer.wait_for_end();
  }));
  const auto stream = connect_securely(server);
  shaken.get_future().wait();
  EXPECT_FALSE(stream->is_stale());
  go_on.set_value();
  EXPECT_TRUE(becomes_stale(*stream));
  EXPECT_EQ(read_text(*stream, 7), "unasked");
}

TEST_F(ClientTlsTest, IsStaleWhenTheServerCloses) {
  RawServer server(over_tls([](RawPeer&, Transport& transport) { transport.finish(); }));
  EXPECT_TRUE(becomes_stale(*connect_securely(server)));
}

TEST_F(ClientTlsTest, SaysWhatIsWrongWithTheAuthorities) {
  const auto missing = ClientTls::create({.certificate_file = "/none.pem"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, base::ErrorCode::invalid);
  EXPECT_EQ(missing.error().message, "cannot use the certificates in '/none.pem': No such file or directory");
  const std::string garbage = directory.path() / "garbage.pem";
  std::ofstream(garbage) << "garbage";
  EXPECT_FALSE(ClientTls::create({.certificate_file = garbage}));
  EXPECT_FALSE(ClientTls::create({.certificate_file = files.private_key}));
}

}  // namespace
}  // namespace postino::net
