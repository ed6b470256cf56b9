// A client's session with a scripted server, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "smtp/client.h"
#include "smtp/script_testing.h"

namespace postino::smtp {

inline const std::string hello = "Subject: hello\r\n\r\nhello\r\n";
inline const Envelope to_ann{"from@example.com", {"ann@example.com"}, ""};
inline const Envelope to_three{"from@example.com", {"ann@example.com", "bob@example.com", "cyd@example.com"}, ""};

inline Options options_of_session(std::uint16_t port) {
  Options options;
  options.host = "127.0.0.1";
  options.port = port;
  options.tls = TlsPolicy::off;
  options.local_name = "client.example";
  return options;
}

// A session with a server that follows a script once it has said hello.
class TestSession {
 public:
  TestSession(
      std::string_view capabilities, const ScriptServer::Script& script,
      const std::function<void(Options&)>& change = [](Options&) {})
      : server_([=](ScriptPeer& peer) {
          peer.welcome(capabilities);
          script(peer);
        }) {
    Options options = options_of_session(server_.port());
    change(options);
    auto opened = Session::open(options, nullptr);
    EXPECT_TRUE(opened.has_value());
    if (opened) session_ = *std::move(opened);
  }

  Session* operator->() { return session_.get(); }
  SendResult send(const Envelope& envelope = to_ann, std::string_view message = hello) {
    return session_->send(envelope, message, nullptr);
  }
  void close() {
    session_.reset();
    server_.finish();
  }

 private:
  ScriptServer server_;
  std::unique_ptr<Session> session_;
};

inline std::vector<Severity> severities(const SendResult& result) {
  std::vector<Severity> all;
  for (const RecipientResult& recipient : result.recipients) all.push_back(recipient.severity);
  return all;
}

// Takes the envelope and the message, then says this.
inline ScriptServer::Script refuse_message(std::string_view reply) {
  return [=](ScriptPeer& peer) {
    for (const std::string_view positive : {"250 ok", "250 ok", "354 go on"}) {
      peer.hear();
      peer.say(positive);
    }
    peer.hear_message();
    if (!reply.empty()) peer.say(reply);
  };
}

}  // namespace postino::smtp
