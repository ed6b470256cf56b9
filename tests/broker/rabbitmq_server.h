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

  std::string log() const;

  // How often the server that is running has broken a connection off because of a fault of its own, as its log says.
  static std::size_t breaks_of_its_own();
  // Its log lags behind: waits a moment for a break that is not there.
  static bool has_broken_off_since(std::size_t breaks);

 private:
  struct Ports {
    std::uint16_t names, distribution, amqp, amqps, management;
  };

  void configure() const;
  void start();
  void await_ready();
  void end(int signal);
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
