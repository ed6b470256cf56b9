#include "postfix_process.h"

#include <poll.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "child_process.h"
#include "net/local_ports_testing.h"

namespace postino::bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* control = "/usr/sbin/postfix";
constexpr const char* source = "/usr/sbin/smtp-source";
constexpr const char* master = "/usr/lib/postfix/sbin/master";

constexpr std::string_view main_settings = R"(compatibility_level = 3.6
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
myhostname = peer.example
mydestination =
mynetworks = 127.0.0.0/8
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
local_recipient_maps =
alias_maps =
alias_database =
smtpd_peername_lookup = no
smtpd_relay_restrictions = permit_mynetworks, reject
smtpd_client_connection_count_limit = 0
receive_override_options = no_address_mappings, no_header_body_checks, no_unknown_recipient_checks
in_flow_delay = 0
default_process_limit = 200
initial_destination_concurrency = 20
default_destination_concurrency_limit = 50
)";

constexpr std::string_view services = R"(cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
error unix - - n - - error
retry unix - - n - - error
scache unix - - n - 1 scache
anvil unix - - n - 1 anvil
)";

}  // namespace

PostfixProcess::PostfixProcess(const std::filesystem::path& directory, std::uint16_t relay_port)
    : directory_(directory), deliver_port_(net::free_port()), hold_port_(net::free_port()) {
  configure(relay_port);
}

PostfixProcess::~PostfixProcess() {
  if (process_ > 0) end(process_);
}

void PostfixProcess::configure(std::uint16_t relay_port) const {
  for (const char* name : {"etc", "queue", "data"}) std::filesystem::create_directory(directory_ / name);
  std::ofstream(directory_ / "etc" / "main.cf") << main_settings                                                    //
                                                << "queue_directory = " << (directory_ / "queue").string() << "\n"  //
                                                << "data_directory = " << (directory_ / "data").string() << "\n"
                                                << "relayhost = [127.0.0.1]:" << relay_port << "\n";
  std::ofstream(directory_ / "etc" / "master.cf")
      << loopback_address(deliver_port_) << " inet n - n - - smtpd\n"
      << loopback_address(hold_port_)
      << " inet n - n - - smtpd -o smtpd_client_restrictions=check_client_access,static:hold\n"
      << services;
}

bool PostfixProcess::run() {
  const passwd* owner = ::getpwnam("postfix");
  if (owner == nullptr || ::chown((directory_ / "data").c_str(), owner->pw_uid, owner->pw_gid) != 0) return false;
  // Makes the folders of the queue.
  if (!await_end(start_program({control, "-c", directory_ / "etc", "check"}))) return false;
  process_ = start_program({master, "-c", directory_ / "etc", "-d"});
  const auto begin = Clock::now();
  while (!net::is_listening(deliver_port_) || !net::is_listening(hold_port_)) {
    if (!is_running(process_)) {
      process_ = -1;
      return false;
    }
    if (Clock::now() - begin > std::chrono::seconds(20)) return false;
    ::poll(nullptr, 0, 1);
  }
  return true;
}

std::unique_ptr<PostfixProcess> PostfixProcess::start(const std::filesystem::path& directory,
                                                      std::uint16_t relay_port) {
  const auto without = [](const char* why) {
    std::fprintf(stderr, "bench: %s, so there is nothing to compare with\n", why);
    return nullptr;
  };
  for (const char* program : {control, source, master})
    if (!std::filesystem::exists(program)) return without("Postfix is not installed");
  if (::geteuid() != 0) return without("Postfix needs root");
  std::unique_ptr<PostfixProcess> postfix(new PostfixProcess(directory, relay_port));
  if (!postfix->run()) return without("Postfix did not start");
  return postfix;
}

Work PostfixProcess::take(std::uint64_t messages, std::size_t bytes, int sessions, Then then) const {
  const std::uint16_t port = then == Then::hold ? hold_port_ : deliver_port_;
  const auto begin = Clock::now();
  const pid_t client =
      start_program({source, "-d", "-s", std::to_string(sessions), "-m", std::to_string(messages), "-l",
                     std::to_string(bytes), "-f", "ann@peer.example", "-t", "bob@example.org", loopback_address(port)});
  if (!await_end(client)) {
    std::fprintf(stderr, "bench: smtp-source failed\n");
    std::exit(1);
  }
  return {messages, Clock::now() - begin};
}

std::uint64_t PostfixProcess::held() const {
  std::uint64_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_ / "queue" / "hold"))
    if (entry.is_regular_file()) ++count;
  return count;
}

}  // namespace postino::bench
