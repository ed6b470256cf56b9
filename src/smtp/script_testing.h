// An SMTP server for tests that says what the test wants, over real sockets.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "net/raw_server_testing.h"
#include "net/tls.h"

struct ssl_st;

namespace postino::smtp {

class ScriptServer;

// The server's side of one connection.
class ScriptPeer {
 public:
  ScriptPeer(ScriptServer& server, net::RawPeer& peer) : server_(server), peer_(peer) {}
  ~ScriptPeer();
  ScriptPeer(const ScriptPeer&) = delete;
  ScriptPeer& operator=(const ScriptPeer&) = delete;

  // Which of the server's connections it is; the first is 1.
  int number() const { return peer_.number(); }

  // Any bytes, and replies: every line of the text gets a CRLF.
  void send(std::string_view bytes);
  void say(std::string_view lines);
  // Greeting, EHLO, and an answer with these capabilities, one in a line.
  void welcome(std::string_view capabilities = "");
  void answer_hello(std::string_view capabilities = "");

  // The next command without its CRLF; "(end)" when the client has gone.
  std::string hear();
  // The test fails when the next command is another; with expect_alone also when something follows before it is
  // answered.
  void expect(std::string_view command);
  void expect_alone(std::string_view command);
  // The test fails when the client does anything but close the connection.
  void expect_end() { expect("(end)"); }
  // All of the message as it comes, up to and including the dot at its end.
  std::string hear_message();
  // Takes the rest of an envelope and the message, which it returns.
  std::string take_message();

  // False when it does not succeed.
  bool start_tls(const net::TlsFiles& files);
  // Says nothing and reads nothing, until the test is over.
  void hang();
  // Once the script is done, the client will see a broken connection instead of an end.
  void end_with_reset() { peer_.end_with_reset(); }

 private:
  bool fill();
  std::string hear_until(std::string_view end);

  ScriptServer& server_;
  net::RawPeer& peer_;
  ssl_st* ssl_ = nullptr;
  std::string received_;
};

class ScriptServer {
 public:
  // How to treat a connection; it is closed at the end. Connections are served one after the other.
  using Script = std::function<void(ScriptPeer&)>;

  explicit ScriptServer(Script script);
  ~ScriptServer();

  std::uint16_t port() const { return server_->port(); }
  // Waits until so many connections have been served to the end; the test fails when there are more.
  void finish(int connections = 1);

 private:
  friend class ScriptPeer;

  std::mutex mutex_;
  std::condition_variable changed_;
  int served_ = 0;
  bool over_ = false;
  std::unique_ptr<net::RawServer> server_;
};

}  // namespace postino::smtp
