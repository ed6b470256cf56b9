// A RabbitMQ of a test's own, from Debian's package: on free ports of the loopback interface, with its data, logs,
// cookie and name server in a private directory. Nothing of the system's RabbitMQ is used but its programs.
//
// It takes seconds to start, so share one. It ends with the thread that started it: that should be the main thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/temporary_directory.h"

namespace postino::broker {

struct RabbitmqOptions {
  // With TLS: PEM files. Clients may show certificates of the same authority, and are then who these name.
  std::string authorities_file;
  std::string certificate_file;
  std::string key_file;
  std::vector<std::string> settings;  // lines for its configuration
};

// How often a log says that RabbitMQ broke a connection off because of its known fault. For each new link its AMQP 1.0
// plugin opens a channel inside the broker and closes it again. Now and then the channel has ended before the broker
// begins to watch it. The broker is then told that the channel ended because of `noproc`, that is, "no such process".
// It takes this for an internal error, and closes the connection.
//
// Only this reason counts. A channel that crashes ends with another one, such as `{badmatch,...}`: that may be an
// answer to something that our client did wrong.
std::size_t count_own_breaks(const std::string& log);

class RabbitmqServer {
 public:
  static constexpr const char* user = "guest";
  static constexpr const char* password = "guest";

  static bool is_installed();

  // Started, and ready. Ends the process with the server's log when that fails.
  explicit RabbitmqServer(RabbitmqOptions options = {});
  ~RabbitmqServer();
  RabbitmqServer(const RabbitmqServer&) = delete;
  RabbitmqServer& operator=(const RabbitmqServer&) = delete;

  std::uint16_t port() const { return ports_.amqp; }
  std::uint16_t tls_port() const { return ports_.amqps; }
  std::uint16_t management_port() const { return ports_.management; }
  pid_t process() const { return process_; }

  void stop();     // as an operator does
  void kill();     // as a power failure does
  void restart();  // after either of them, or without; on the same ports, with its data

  // The management API: "GET", "/api/queues/%2F/name". Ends the process when there is no answer. Returns the status.
  int manage(std::string_view method, std::string_view path, std::string_view body = "", std::string* answer = nullptr);

  // A durable queue; arguments as JSON members, for example R"("x-queue-type":"quorum")".
  void declare(std::string_view queue, std::string_view arguments = "");
  void remove(std::string_view queue);
  // What its statistics say, which lag behind.
  std::string describe(std::string_view queue);

  // What its programs have said, and its log.
  std::string log() const;

  // How often the server that is running has broken a connection off because of its known fault, as its log says.
  static std::size_t own_breaks();
  // The last warnings and errors in the log of the server that is running.
  static std::string complaints();
  // The log lags behind what the server does. Returns when everything is in it that has happened so far.
  static void await_log();

 private:
  struct Ports {
    std::uint16_t names, distribution, amqp, amqps, management;
  };

  void configure() const;
  void start();
  void await_ready(int news);
  void end(int signal);
  std::string own_log() const;
  // By its control program; false if the server did not do it.
  bool evaluate(const std::string& expression) const;
  std::vector<std::string> environment() const;
  [[noreturn]] void give_up(std::string_view why) const;

  static const RabbitmqServer* running_;

  const RabbitmqOptions options_;
  const base::TemporaryDirectory directory_;
  const Ports ports_;
  pid_t name_server_ = -1;
  pid_t process_ = -1;
};

}  // namespace postino::broker
