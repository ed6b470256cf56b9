#include "smtp/script_testing.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "base/check.h"
#include "net/tls_socket.h"

namespace postino::smtp {

namespace {

constexpr std::chrono::seconds patience{60};  // only a test that fails waits so long

}  // namespace

ScriptPeer::~ScriptPeer() {
  if (ssl_ == nullptr) return;
  SSL_shutdown(ssl_);
  SSL_free(ssl_);
}

bool ScriptPeer::start_tls(const net::TlsFiles& files) {
  SSL_CTX* const context = SSL_CTX_new(TLS_server_method());
  CHECK(SSL_CTX_use_certificate_chain_file(context, files.certificate_chain.c_str()) == 1);
  CHECK(SSL_CTX_use_PrivateKey_file(context, files.private_key.c_str(), SSL_FILETYPE_PEM) == 1);
  ssl_ = SSL_new(context);
  SSL_CTX_free(context);
  BIO* const bio = net::make_socket_bio(peer_.descriptor());
  SSL_set_bio(ssl_, bio, bio);
  received_.clear();
  return SSL_accept(ssl_) == 1;
}

void ScriptPeer::send(std::string_view bytes) {
  // The client may have gone already; then it is the client that has something to answer for.
  if (ssl_ != nullptr)
    SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()));
  else
    peer_.send(bytes);
}

void ScriptPeer::say(std::string_view lines) {
  std::string text(lines);
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.insert(at, 1, '\r');
  send(text + "\r\n");
}

void ScriptPeer::welcome(std::string_view capabilities) {
  say("220 relay.example ESMTP");
  answer_hello(capabilities);
}

void ScriptPeer::answer_hello(std::string_view capabilities) {
  expect("EHLO client.example");
  std::string answer = "250-relay.example greets you\n";
  while (!capabilities.empty()) {
    const std::string_view line = capabilities.substr(0, capabilities.find('\n'));
    capabilities.remove_prefix(std::min(line.size() + 1, capabilities.size()));
    ((answer += "250-") += line) += '\n';
  }
  say(answer + "250 HELP");
}

bool ScriptPeer::fill() {
  std::array<char, 64 << 10> buffer{};
  const auto count = ssl_ != nullptr ? SSL_read(ssl_, buffer.data(), static_cast<int>(buffer.size()))
                                     : ::read(peer_.descriptor(), buffer.data(), buffer.size());
  if (count <= 0) return false;
  received_.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

std::string ScriptPeer::hear_until(std::string_view end) {
  std::size_t found = 0;
  std::size_t searched = 0;
  while ((found = received_.find(end, searched)) == std::string::npos) {
    searched = received_.size() - std::min(received_.size(), end.size());
    if (!fill()) return received_ + "(end)";
  }
  std::string heard = received_.substr(0, found + end.size());
  received_.erase(0, heard.size());
  return heard;
}

std::string ScriptPeer::hear() {
  std::string line = hear_until("\r\n");
  if (line.ends_with("\r\n")) line.resize(line.size() - 2);
  return line;
}

void ScriptPeer::expect(std::string_view command) { EXPECT_EQ(hear(), command); }

void ScriptPeer::expect_alone(std::string_view command) {
  expect(command);
  EXPECT_EQ(received_, "");
}

std::string ScriptPeer::hear_message() {
  while (received_.size() < 3 && fill()) {
  }
  return received_.starts_with(".\r\n") ? hear_until(".\r\n") : hear_until("\r\n.\r\n");
}

std::string ScriptPeer::take_message() {
  for (std::string command; command != "DATA";) {
    command = hear();
    if (command.ends_with("(end)")) return command;
    say(command == "DATA" ? "354 go on" : "250 2.0.0 ok");
  }
  std::string message = hear_message();
  say("250 2.0.0 queued as 1");
  return message;
}

void ScriptPeer::hang() {
  std::unique_lock lock(server_.mutex_);
  server_.changed_.wait(lock, [this] { return server_.over_; });
}

ScriptServer::ScriptServer(Script script) {
  server_ = std::make_unique<net::RawServer>([this, script = std::move(script)](net::RawPeer& peer) {
    {
      ScriptPeer conversation(*this, peer);
      script(conversation);
    }
    const std::lock_guard lock(mutex_);
    ++served_;
    changed_.notify_all();
  });
}

ScriptServer::~ScriptServer() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    changed_.notify_all();
  }
  server_.reset();
}

void ScriptServer::finish(int connections) {
  std::unique_lock lock(mutex_);
  over_ = true;
  changed_.notify_all();
  EXPECT_TRUE(changed_.wait_for(lock, patience, [&] { return served_ >= connections; }))
      << "served " << served_ << " connections to the end";
  lock.unlock();
  EXPECT_EQ(server_->connections(), connections);
}

}  // namespace postino::smtp
