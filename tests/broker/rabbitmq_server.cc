#include "rabbitmq_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <thread>

#include "base/check.h"
#include "base/descriptor.h"
#include "base/text.h"
#include "http/client.h"
#include "net/local_ports_testing.h"

namespace postino::broker {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* program = "/usr/lib/rabbitmq/bin/rabbitmq-server";
constexpr const char* control_program = "/usr/lib/rabbitmq/bin/rabbitmqctl";
constexpr const char* node_name = "postino-test@localhost";
constexpr const char* name_server_program = "/usr/bin/epmd";
constexpr std::chrono::seconds patience{240};  // the machine may be busy with other tests

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> raw;
  for (const std::string& text : texts) raw.push_back(const_cast<char*>(text.c_str()));
  raw.push_back(nullptr);
  return raw;
}

// Its output goes to a file. It is killed when this thread ends.
pid_t run(const std::vector<std::string>& command, const std::vector<std::string>& environment,
          const std::string& output) {
  // Made before the fork, because little is allowed after it.
  const auto arguments = pointers(command);
  const auto variables = pointers(environment);
  const pid_t child = ::fork();
  CHECK(child >= 0);
  if (child > 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(file, STDOUT_FILENO);
  ::dup2(file, STDERR_FILENO);
  ::execve(arguments.front(), arguments.data(), variables.data());
  ::_exit(127);
}

// Can be read from when the process has ended.
base::Descriptor end_of(pid_t process) {
  base::Descriptor descriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  CHECK(descriptor.number() >= 0);
  return descriptor;
}

int milliseconds_until(Clock::time_point limit) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - Clock::now());
  return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0));
}

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string queue_path(std::string_view queue) { return "/api/queues/%2F/" + base::encode_percent(queue); }

}  // namespace

std::size_t count_own_breaks(const std::string& log) {
  static const std::regex known(R"(closing: internal error in channel \(<[0-9.]+>\): noproc(\s|$))");
  return static_cast<std::size_t>(
      std::distance(std::sregex_iterator(log.begin(), log.end(), known), std::sregex_iterator()));
}

const RabbitmqServer* RabbitmqServer::running_ = nullptr;

bool RabbitmqServer::is_installed() {
  return std::filesystem::exists(program) && std::filesystem::exists(name_server_program);
}

RabbitmqServer::RabbitmqServer(RabbitmqOptions options)
    : options_(std::move(options)),
      ports_{net::free_port(), net::free_port(), net::free_port(), net::free_port(), net::free_port()} {
  if (!is_installed()) give_up("is not installed");
  configure();
  name_server_ = run({name_server_program, "-port", std::to_string(ports_.names), "-address", "127.0.0.1"},
                     environment(), directory_.path() / "output");
  start();
  running_ = this;
}

RabbitmqServer::~RabbitmqServer() {
  running_ = nullptr;
  end(SIGKILL);
  process_ = name_server_;
  end(SIGKILL);
}

std::vector<std::string> RabbitmqServer::environment() const {
  const std::string home = directory_.path();
  return {
      "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
      "LANG=C.UTF-8",
      "HOME=" + home,  // for the cookie
      "ERL_EPMD_PORT=" + std::to_string(ports_.names),
      "ERL_EPMD_ADDRESS=127.0.0.1",
      std::string("RABBITMQ_NODENAME=") + node_name,
      "RABBITMQ_DIST_PORT=" + std::to_string(ports_.distribution),
      "RABBITMQ_MNESIA_BASE=" + home + "/data",
      "RABBITMQ_LOG_BASE=" + home + "/log",
      "RABBITMQ_CONFIG_FILE=" + home + "/rabbitmq.conf",
      "RABBITMQ_ADVANCED_CONFIG_FILE=" + home + "/advanced.config",
      "RABBITMQ_CONF_ENV_FILE=" + home + "/environment",
      "RABBITMQ_ENABLED_PLUGINS_FILE=" + home + "/plugins",
      "RABBITMQ_SCHEDULER_BIND_TYPE=u",
      // Its script would otherwise stay between us and it.
      "RABBITMQ_ALLOW_INPUT=1",
      "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-noinput -kernel inet_dist_use_interface {127,0,0,1}",
  };
}

void RabbitmqServer::configure() const {
  std::ofstream(directory_.path() / "plugins")
      << "[rabbitmq_amqp1_0,rabbitmq_management,rabbitmq_auth_mechanism_ssl].\n";
  std::ofstream file(directory_.path() / "rabbitmq.conf");
  file << "listeners.tcp.1 = 127.0.0.1:" << ports_.amqp << "\n"
       << "management.tcp.ip = 127.0.0.1\n"
       << "management.tcp.port = " << ports_.management << "\n"
       << "disk_free_limit.absolute = 1MB\n"
       << "log.console = false\n";
  if (!options_.certificate_file.empty())
    file << "listeners.ssl.1 = 127.0.0.1:" << ports_.amqps << "\n"
         << "ssl_options.cacertfile = " << options_.authorities_file << "\n"
         << "ssl_options.certfile = " << options_.certificate_file << "\n"
         << "ssl_options.keyfile = " << options_.key_file << "\n"
         << "ssl_options.verify = verify_peer\n"
         << "ssl_options.fail_if_no_peer_cert = false\n"
         << "ssl_cert_login_from = common_name\n"
         << "auth_mechanisms.1 = PLAIN\n"
         << "auth_mechanisms.2 = EXTERNAL\n";
  for (const std::string& setting : options_.settings) file << setting << "\n";
}

void RabbitmqServer::start() {
  const std::filesystem::path logs = directory_.path() / "log";
  std::filesystem::create_directories(logs);
  const base::Descriptor news(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  CHECK(::inotify_add_watch(news.number(), logs.c_str(), IN_CREATE | IN_MODIFY) >= 0);
  process_ = run({program}, environment(), directory_.path() / "output");
  await_ready(news.number());
}

// The server opens its listeners at the end of its start, and writes a line to its log after each of them. So each time
// when it has written something, the listeners are looked for.
void RabbitmqServer::await_ready(int news) {
  const auto limit = Clock::now() + patience;
  const base::Descriptor ending = end_of(process_);
  const auto ports = options_.certificate_file.empty() ? std::vector{ports_.amqp, ports_.management}
                                                       : std::vector{ports_.amqp, ports_.amqps, ports_.management};
  while (!std::ranges::all_of(ports, net::is_listening)) {
    pollfd events[] = {{news, POLLIN, 0}, {ending.number(), POLLIN, 0}};
    if (::poll(events, 2, milliseconds_until(limit)) <= 0) give_up("did not start in time");
    if (events[1].revents != 0) give_up("ended");
    char read_already[4'096];
    while (::read(news, read_already, sizeof read_already) > 0) {
    }
  }
}

void RabbitmqServer::end(int signal) {
  if (process_ < 0) return;
  const base::Descriptor ending = end_of(process_);
  ::kill(process_, signal);
  pollfd event{ending.number(), POLLIN, 0};
  if (::poll(&event, 1, milliseconds_until(Clock::now() + patience)) <= 0) ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  process_ = -1;
}

void RabbitmqServer::stop() { end(SIGTERM); }

// What it knows of queues it writes to the disk at its leisure, and a test is about messages.
void RabbitmqServer::kill() {
  if (!evaluate("mnesia:sync_log().")) give_up("did not write down its queues");
  end(SIGKILL);
}

bool RabbitmqServer::evaluate(const std::string& expression) const {
  const pid_t control =
      run({control_program, "--node", node_name, "eval", expression}, environment(), directory_.path() / "output");
  int status = 0;
  return ::waitpid(control, &status, 0) == control && status == 0;
}

void RabbitmqServer::restart() {
  stop();
  start();
}

int RabbitmqServer::manage(std::string_view method, std::string_view path, std::string_view body, std::string* answer) {
  http::ClientOptions options;
  options.allow_private_addresses = true;
  auto client = http::Client::create(options);
  auto url = net::Url::parse("http://127.0.0.1:" + std::to_string(ports_.management) + std::string(path));
  CHECK(client && url);
  http::ClientRequest request;
  request.method = method;
  request.url = *url;
  request.headers = {{"Authorization", "Basic Z3Vlc3Q6Z3Vlc3Q="}, {"Content-Type", "application/json"}};
  request.body = body;
  const auto response = (*client)->send(request, Clock::now() + patience);
  if (!response) give_up("does not answer: " + response.error().message);
  if (answer != nullptr) *answer = response->body;
  return response->status;
}

void RabbitmqServer::declare(std::string_view queue, std::string_view arguments) {
  const int status =
      manage("PUT", queue_path(queue), R"({"durable":true,"arguments":{)" + std::string(arguments) + "}}");
  if (status != 201 && status != 204) give_up("did not declare a queue: " + std::to_string(status));
}

void RabbitmqServer::remove(std::string_view queue) {
  const int status = manage("DELETE", queue_path(queue));
  if (status != 204) give_up("did not remove a queue: " + std::to_string(status));
}

std::string RabbitmqServer::describe(std::string_view queue) {
  std::string answer;
  manage("GET", queue_path(queue), "", &answer);
  return answer;
}

std::string RabbitmqServer::log() const { return text_of(directory_.path() / "output") + own_log(); }

std::string RabbitmqServer::own_log() const {
  return text_of(directory_.path() / "log" / (std::string(node_name) + ".log"));
}

std::size_t RabbitmqServer::own_breaks() { return running_ == nullptr ? 0 : count_own_breaks(running_->own_log()); }

std::string RabbitmqServer::complaints() {
  constexpr std::size_t most_bytes = 8'000;
  std::istringstream log(running_ == nullptr ? "" : running_->own_log());
  std::string complaints;
  for (std::string line; std::getline(log, line);)
    if (line.find("[warning]") != std::string::npos || line.find("[error]") != std::string::npos)
      complaints += line + "\n";
  return complaints.substr(complaints.size() - std::min(complaints.size(), most_bytes));
}

void RabbitmqServer::await_log() {
  if (running_ == nullptr) return;
  static int number = 0;
  const std::string marker = "Postino's tests have come to marker " + std::to_string(++number);
  // A server that does not run cannot be asked, and writes nothing more.
  if (!running_->evaluate("rabbit_log:warning(\"" + marker + "\").")) return;
  const auto limit = Clock::now() + patience;
  while (running_->own_log().find(marker) == std::string::npos) {
    if (Clock::now() > limit) running_->give_up("does not write its log");
    std::this_thread::yield();
  }
}

void RabbitmqServer::give_up(std::string_view why) const {
  const std::string text = log();
  std::fprintf(stderr, "RabbitMQ %.*s\n%s\n", static_cast<int>(why.size()), why.data(),
               text.substr(text.size() - std::min<std::size_t>(text.size(), 8'000)).c_str());
  if (process_ > 0) ::kill(process_, SIGKILL);
  if (name_server_ > 0) ::kill(name_server_, SIGKILL);
  std::_Exit(1);
}

}  // namespace postino::broker
