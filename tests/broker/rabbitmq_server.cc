#include "rabbitmq_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/check.h"
#include "base/text.h"
#include "net/http_client.h"
#include "net/local_ports_testing.h"

namespace postino::broker {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* program = "/usr/lib/rabbitmq/bin/rabbitmq-server";
constexpr const char* control_program = "/usr/lib/rabbitmq/bin/rabbitmqctl";
constexpr const char* node_name = "postino-test@localhost";
constexpr const char* name_server_program = "/usr/bin/epmd";
constexpr std::chrono::seconds patience{240};  // two cores, and others who want them

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

void wait_a_little() { ::poll(nullptr, 0, 20); }

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string queue_path(std::string_view queue) { return "/api/queues/%2F/" + base::encode_percent(queue); }

}  // namespace

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
  process_ = run({program}, environment(), directory_.path() / "output");
  await_ready();
}

void RabbitmqServer::await_ready() {
  const auto end = Clock::now() + patience;
  // Listeners are opened in the end, one after the other.
  const auto ports = options_.certificate_file.empty() ? std::vector{ports_.amqp, ports_.management}
                                                       : std::vector{ports_.amqp, ports_.amqps, ports_.management};
  for (const std::uint16_t port : ports) {
    while (!net::is_listening(port)) {
      if (::waitpid(process_, nullptr, WNOHANG) != 0) give_up("ended");
      if (Clock::now() > end) give_up("did not start in time");
      wait_a_little();
    }
  }
}

void RabbitmqServer::end(int signal) {
  if (process_ < 0) return;
  ::kill(process_, signal);
  const auto limit = Clock::now() + patience;
  while (::waitpid(process_, nullptr, WNOHANG) == 0) {
    if (Clock::now() > limit) ::kill(process_, SIGKILL);
    wait_a_little();
  }
  process_ = -1;
}

void RabbitmqServer::stop() { end(SIGTERM); }

// What it knows of queues it writes to the disk at its leisure, and a test is about messages.
void RabbitmqServer::kill() {
  const pid_t control = run({control_program, "--node", node_name, "eval", "mnesia:sync_log()."}, environment(),
                            directory_.path() / "output");
  int status = 0;
  if (::waitpid(control, &status, 0) != control || status != 0) give_up("did not write down its queues");
  end(SIGKILL);
}

void RabbitmqServer::restart() {
  stop();
  start();
}

int RabbitmqServer::manage(std::string_view method, std::string_view path, std::string_view body, std::string* answer) {
  net::HttpClientOptions options;
  options.allow_private_addresses = true;
  auto client = net::HttpClient::create(options);
  auto url = net::Url::parse("http://127.0.0.1:" + std::to_string(ports_.management) + std::string(path));
  CHECK(client && url);
  net::HttpRequest request;
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

std::string RabbitmqServer::log() const {
  return text_of(directory_.path() / "output") + text_of(directory_.path() / "log" / (std::string(node_name) + ".log"));
}

std::size_t RabbitmqServer::breaks_of_its_own() {
  if (running_ == nullptr) return 0;
  const std::string text = running_->log();
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find("closing: internal error in channel", at)) != text.npos; ++at) ++count;
  return count;
}

bool RabbitmqServer::has_broken_off_since(std::size_t breaks) {
  const auto limit = Clock::now() + std::chrono::seconds(3);
  while (breaks_of_its_own() <= breaks) {
    if (Clock::now() > limit) return false;
    wait_a_little();
  }
  return true;
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
