// Stands between a client and a MariaDB, on a socket of its own, and loses what it is told to lose: the way to see what
// happens when the server has done something and its answer does not arrive.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/temporary_directory.h"
#include "mysql/server_options.h"

namespace postino::mysql {

class LossyProxy {
 public:
  // For a server that is reached through a socket.
  explicit LossyProxy(ServerOptions server);
  ~LossyProxy();
  LossyProxy(const LossyProxy&) = delete;
  LossyProxy& operator=(const LossyProxy&) = delete;

  // As for the server, through the proxy.
  ServerOptions options() const;

  // The next statement that is sent as text and begins with these words, as COMMIT does, reaches the server. When the
  // server has answered, the connection is cut.
  void lose_answer_to(const std::string& words);
  int lost() const { return lost_; }

  // The next such statement does not reach the server before let_go(). The client's connection is cut at once, the
  // server's stays.
  void hold_back(const std::string& words);
  void let_go();

 private:
  void accept_all();
  void serve(int client);
  bool pass_request(int client, int server, bool& cut);
  void finish_late(int client, int server, const std::string& request);
  // Forgets the words when they are the request's.
  bool takes(std::string& words, std::string_view request);

  const ServerOptions server_;
  const base::TemporaryDirectory directory_;
  int listener_ = -1;
  int end_[2] = {-1, -1};  // a pipe that is closed when everything shall end
  std::atomic<int> lost_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string lost_words_, late_words_;
  bool late_ones_may_go_ = false;
  std::vector<std::thread> conversations_;  // only the acceptor's
  std::thread acceptor_;
};

}  // namespace postino::mysql
