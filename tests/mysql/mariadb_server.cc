#include "mariadb_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <utility>

#include "base/check.h"
#include "base/descriptor.h"
#include "mysql/connection.h"
#include "net/local_ports_testing.h"

namespace postino::mysql {

namespace {

namespace fs = std::filesystem;

constexpr int patience_milliseconds = 300'000;  // machines that run tests are busy

bool is_root() { return ::geteuid() == 0; }

std::string contents(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// Its standard output and standard error go to the file. Ends with the calling thread.
pid_t launch(const std::vector<std::string>& command, const fs::path& output, const std::string& notify_path = {}) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  // Another process may not allocate memory before it is another program: everything is made ready here.
  std::string notify = "NOTIFY_SOCKET=" + notify_path;
  std::string path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  char* const environment[] = {path.data(), notify_path.empty() ? nullptr : notify.data(), nullptr};
  const base::Descriptor file(::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  CHECK(file);
  const pid_t process = ::fork();
  CHECK(process >= 0);
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(file.number(), STDOUT_FILENO);
    ::dup2(file.number(), STDERR_FILENO);
    ::execvpe(arguments[0], arguments.data(), environment);
    ::_exit(127);
  }
  return process;
}

[[noreturn]] void give_up(const std::string& message, const fs::path& log) {
  std::cerr << "MariaDB: " << message << "\n" << contents(log) << std::flush;
  std::abort();
}

// A data directory as it is after installation, made once in this process and copied for every server. In memory,
// where there is such a place: installing syncs a lot.
const fs::path& fresh_data() {
  static const fs::path memory = fs::is_directory("/dev/shm") ? "/dev/shm" : "";
  static const base::TemporaryDirectory place(memory);
  static const fs::path data = [] {
    fs::path directory = place.path() / "data";
    const fs::path log = place.path() / "log";
    std::vector<std::string> command = {"mariadb-install-db", "--no-defaults", "--datadir=" + directory.string(),
                                        // A server that starts removes what others have in a place that they share.
                                        "--tmpdir=" + place.path().string(), "--auth-root-authentication-method=normal",
                                        "--skip-test-db", "--skip-name-resolve", "--innodb-log-file-size=8M"};
    if (is_root()) command.emplace_back("--user=root");
    int status = 0;
    const pid_t process = launch(command, log);
    CHECK(::waitpid(process, &status, 0) == process);
    if (status != 0) give_up("mariadb-install-db failed", log);
    return directory;
  }();
  return data;
}

// Where the server tells its service manager that it is ready.
base::Descriptor open_notifications(const std::string& path) {
  ::unlink(path.c_str());
  base::Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  CHECK(path.size() < sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  CHECK(socket && ::bind(socket.number(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  return socket;
}

}  // namespace

MariadbServer::MariadbServer(MariadbOptions options) : options_(std::move(options)) {
  if (options_.tcp) port_ = net::free_port();
  fs::copy(fresh_data(), directory_.path() / "data", fs::copy_options::recursive);
  start();
}

MariadbServer::~MariadbServer() { kill(); }

MariadbServer& MariadbServer::shared() {
  static MariadbServer server;
  return server;
}

ServerOptions MariadbServer::options(const std::string& database) const {
  ServerOptions options;
  options.socket = directory_.path() / "socket";
  options.user = "root";
  options.database = database;
  // A client that waits long is on a busy machine, not without an answer. Tests of time limits set their own.
  options.connect_timeout = std::chrono::minutes(1);
  options.statement_timeout = std::chrono::minutes(5);
  options.lock_timeout = std::chrono::minutes(1);
  return options;
}

ServerOptions MariadbServer::tcp_options(const std::string& database) const {
  CHECK(port_ != 0);
  ServerOptions options = this->options(database);
  options.socket.clear();
  options.port = port_;
  options.tls.mode = TlsMode::off;
  return options;
}

ServerOptions MariadbServer::new_database() {
  const std::string name = "test_" + std::to_string(++databases_);
  const auto connection = Connection::open(options());
  if (!connection) give_up(connection.error().message, directory_.path() / "log");
  const auto created = (*connection)->run("CREATE DATABASE " + name);
  if (!created) give_up(created.error().message, directory_.path() / "log");
  return options(name);
}

void MariadbServer::kill() {
  if (process_ == 0) return;
  ::kill(process_, SIGKILL);
  wait_for_end();
}

void MariadbServer::stop() {
  if (process_ == 0) return;
  ::kill(process_, SIGTERM);
  wait_for_end();
}

void MariadbServer::start() {
  CHECK(process_ == 0);
  const std::string notify_path = directory_.path() / "notify";
  const base::Descriptor notifications = open_notifications(notify_path);
  process_ = launch(command(), directory_.path() / "log", notify_path);
  wait_until_ready(notifications.number());
}

void MariadbServer::freeze() {
  int status = 0;
  CHECK(::kill(process_, SIGSTOP) == 0);
  CHECK(::waitpid(process_, &status, WUNTRACED) == process_ && WIFSTOPPED(status));  // all its threads have
}
void MariadbServer::thaw() { CHECK(::kill(process_, SIGCONT) == 0); }

std::string MariadbServer::log() const { return contents(directory_.path() / "log"); }

std::vector<std::string> MariadbServer::command() const {
  const std::string directory = directory_.path();
  std::vector<std::string> command = {
      "mariadbd",
      "--no-defaults",
      "--datadir=" + directory + "/data",
      "--socket=" + directory + "/socket",
      "--pid-file=" + directory + "/pid",
      "--tmpdir=" + directory,
      "--skip-name-resolve",
      "--character-set-server=utf8mb4",
      "--performance-schema=OFF",
      "--innodb-flush-log-at-trx-commit=1",
      "--innodb-buffer-pool-size=64M",
      "--innodb-log-file-size=64M",
      "--max-allowed-packet=96M",
      // The kernel finishes what a killed process has handed to it through io_uring, also after the process has ended:
      // such a write could reach a file behind the back of the next server. Written by threads, nothing is left.
      "--innodb-use-native-aio=0",
  };
  if (is_root()) command.emplace_back("--user=root");
  if (port_ == 0) {
    command.emplace_back("--skip-networking");
  } else {
    command.emplace_back("--bind-address=127.0.0.1");
    command.push_back("--port=" + std::to_string(port_));
  }
  command.insert(command.end(), options_.arguments.begin(), options_.arguments.end());
  return command;
}

void MariadbServer::wait_until_ready(int notifications) {
  const base::Descriptor end(static_cast<int>(::syscall(SYS_pidfd_open, process_, 0)));
  CHECK(end);
  for (bool ready = false; !ready;) {
    pollfd events[] = {{notifications, POLLIN, 0}, {end.number(), POLLIN, 0}};
    const int happened = ::poll(events, 2, patience_milliseconds);
    if (happened < 0 && errno == EINTR) continue;
    if (happened <= 0 || events[1].revents != 0) give_up("did not start", directory_.path() / "log");
    char text[4096];
    const ssize_t length = ::recv(notifications, text, sizeof text, 0);
    ready = length > 0 && std::string_view(text, static_cast<std::size_t>(length)).find("READY=1") != std::string::npos;
  }
}

void MariadbServer::wait_for_end() {
  CHECK(::waitpid(process_, nullptr, 0) == process_);
  process_ = 0;
}

}  // namespace postino::mysql
