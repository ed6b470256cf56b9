#include "mysql/connector.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>
#include <string>

#include "base/check.h"
#include "mysql/greeting.h"
#include "net/borrowed_socket.h"

namespace postino::mysql {

namespace {

// For values of up to 64 MB, with what belongs to them.
constexpr std::size_t largest_packet = 128 << 20;

// Ways to log in that prove the password without giving it away, also to a false server.
constexpr const char* proving_ways = "mysql_native_password,client_ed25519";
// These give it away. Without TLS they encrypt it for the holder of a key, and a false server has a key, too.
constexpr const char* ways_over_tls = "mysql_native_password,client_ed25519,caching_sha2_password,sha256_password";
// And these give it in the clear to any server that asks.
constexpr const char* all_ways =
    "mysql_native_password,client_ed25519,caching_sha2_password,sha256_password,mysql_clear_password,dialog";

constexpr std::size_t stack_bytes = 256 << 10;  // of the library while it connects

template <class Type>
void set(MYSQL* connection, mysql_option option, const Type& value) {
  CHECK(mysql_optionsv(connection, option, &value) == 0);
}

void set_text(MYSQL* connection, mysql_option option, const std::string& value) {
  if (!value.empty()) CHECK(mysql_optionsv(connection, option, value.c_str()) == 0);
}

// The library counts in seconds; 0 is no limit.
unsigned whole_seconds(base::Milliseconds time) {
  return static_cast<unsigned>(std::max<std::int64_t>(std::chrono::ceil<std::chrono::seconds>(time).count(), 0));
}

// Later than the server's own limit, so that the server's answer can arrive.
unsigned silence_limit(base::Milliseconds statement_timeout) {
  if (statement_timeout <= base::Milliseconds(0)) return 0;
  return whole_seconds(statement_timeout + std::max(statement_timeout / 2, base::Milliseconds(1'000)));
}

void set_tls(MYSQL* connection, const ServerOptions& options) {
  const TlsOptions& tls = options.tls;
  const bool on = options.socket.empty() && tls.mode != TlsMode::off;
  const bool verified = on && tls.mode == TlsMode::verified;
  set(connection, MYSQL_OPT_SSL_ENFORCE, static_cast<my_bool>(on));
  set(connection, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, static_cast<my_bool>(verified));
  if (!on) return;
  // An authority given to the library makes it look at the chain, which is not what the other modes promise.
  if (verified) set_text(connection, MYSQL_OPT_SSL_CA, tls.ca_file);
  set_text(connection, MYSQL_OPT_SSL_CERT, tls.certificate_file);
  set_text(connection, MYSQL_OPT_SSL_KEY, tls.key_file);
}

void set_options(MYSQL* connection, const ServerOptions& options) {
  const bool by_socket = !options.socket.empty();
  set(connection, MYSQL_OPT_PROTOCOL, static_cast<unsigned>(by_socket ? MYSQL_PROTOCOL_SOCKET : MYSQL_PROTOCOL_TCP));
  set(connection, MYSQL_OPT_CONNECT_TIMEOUT, std::max(whole_seconds(options.connect_timeout), 1U));
  set(connection, MYSQL_OPT_READ_TIMEOUT, silence_limit(options.statement_timeout));
  set(connection, MYSQL_OPT_WRITE_TIMEOUT, silence_limit(options.statement_timeout));
  set(connection, MYSQL_OPT_MAX_ALLOWED_PACKET, largest_packet);
  set(connection, MYSQL_OPT_RECONNECT, my_bool{0});  // would lose a transaction without a word
  set(connection, MYSQL_OPT_LOCAL_INFILE, 0U);       // no server may ask for our files
  set_text(connection, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  set_text(connection, MARIADB_OPT_RESTRICTED_AUTH, by_socket ? all_ways : proving_ways);
  set_tls(connection, options);
}

// The library would only say that there is no such file.
Result<void> check_files(const TlsOptions& tls) {
  for (const std::string* file : {&tls.ca_file, &tls.certificate_file, &tls.key_file})
    if (!file->empty() && !std::ifstream(*file)) return fail(ErrorKind::refused, 0, "cannot read " + *file);
  return {};
}

// What the server says first, before the library answers it. nullopt when it says nothing.
std::optional<Greeting> await_greeting(const net::BorrowedSocket& socket, net::Deadline deadline) {
  std::string bytes;
  while (true) {
    std::string more = socket.peek(bytes.size() + 1, deadline);
    if (more.size() <= bytes.size()) return std::nullopt;
    bytes = std::move(more);
    if (const Greeting greeting = read_greeting(bytes); greeting != Greeting::incomplete) return greeting;
  }
}

// The library logs in to any server that answers, and can tell only afterwards whether that was over TLS. So it is
// stopped between the server's greeting and its own answer, which is where the greeting can be looked at.
class Handshake {
 public:
  Handshake(MYSQL* connection, const ServerOptions& options, SocketEntry& entry)
      : connection_(connection), options_(options), entry_(entry) {
    set(connection, MYSQL_OPT_NONBLOCK, stack_bytes);
  }

  Result<void> run() {
    const char* database = options_.database.empty() ? nullptr : options_.database.c_str();
    MYSQL* done = nullptr;
    const bool by_socket = !options_.socket.empty();
    // Without a password the library would look for one in the environment; an empty one is none.
    int waits = mysql_real_connect_start(&done, connection_, by_socket ? nullptr : options_.host.c_str(),
                                         options_.user.c_str(), options_.password.c_str(), database, options_.port,
                                         by_socket ? options_.socket.c_str() : nullptr, 0);
    while (waits != 0) {
      enter();
      if (!by_socket && !greeted_ && !refused_) look();
      waits = mysql_real_connect_cont(&done, connection_, wait_for(waits));
    }
    if (refused_) return fail(ErrorKind::refused, 0, "TLS is required, but the server does not offer it");
    if (done == nullptr) return base::propagate(last_error(connection_));
    enter();  // a quick server leaves nothing to wait for
    return {};
  }

 private:
  // When it is too late for new connections, the library finds a broken one.
  void enter() {
    if (!entry_.set(mysql_get_socket(connection_))) socket().shut_down();
  }

  net::BorrowedSocket socket() const { return net::BorrowedSocket(mysql_get_socket(connection_)); }

  // A host has several addresses, so there may be several connections; the one that greets is the one.
  void look() {
    const auto greeting = await_greeting(socket(), deadline_);
    if (!greeting) return;
    greeted_ = true;
    const TlsMode mode = options_.tls.mode;
    const bool over_tls = mode != TlsMode::off && *greeting == Greeting::offers_tls;
    if (over_tls)
      set_text(connection_, MARIADB_OPT_RESTRICTED_AUTH, mode == TlsMode::verified ? all_ways : ways_over_tls);
    // To an error the library says nothing.
    if (over_tls || mode == TlsMode::off || mode == TlsMode::preferred || *greeting == Greeting::error) return;
    refused_ = true;
    socket().shut_down();
  }

  int wait_for(int waits) const {
    if (refused_) return waits & ~MYSQL_WAIT_TIMEOUT;
    const bool limited = (waits & MYSQL_WAIT_TIMEOUT) != 0;
    const base::Milliseconds limit = limited ? base::Milliseconds(mysql_get_timeout_value_ms(connection_)) : endless;
    const auto events =
        socket().wait_for({.readable = (waits & MYSQL_WAIT_READ) != 0, .writable = (waits & MYSQL_WAIT_WRITE) != 0},
                          std::min(net::deadline_in(limit), deadline_));
    const int met = (events.readable ? MYSQL_WAIT_READ : 0) | (events.writable ? MYSQL_WAIT_WRITE : 0);
    return met != 0 ? met : MYSQL_WAIT_TIMEOUT;
  }

  static constexpr base::Milliseconds endless = std::chrono::hours(1);

  MYSQL* const connection_;
  const ServerOptions& options_;
  SocketEntry& entry_;
  const net::Deadline deadline_ = net::deadline_in(options_.connect_timeout);
  bool greeted_ = false;
  bool refused_ = false;
};

Result<void> shake_hands(MYSQL* connection, const ServerOptions& options, SocketEntry& entry) {
  auto connected = Handshake(connection, options, entry).run();
  constexpr unsigned tls_failed = 2026;
  constexpr unsigned way_not_allowed = 5010;
  if (connected) return connected;
  Error& error = connected.error();
  if (error.code == tls_failed) error.kind = ErrorKind::refused;
  // The library's own words name the wrong way.
  if (error.code == way_not_allowed) {
    error.kind = ErrorKind::refused;
    error.message = "the server asks for the password in a way that is not safe with this mode of TLS";
  }
  return connected;
}

Result<void> set_up_session(MYSQL* connection, const Flavour& flavour, const ServerOptions& options) {
  TRY_VOID(send_text(connection, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"));
  base::Milliseconds lock_timeout = options.lock_timeout;
  if (options.statement_timeout > base::Milliseconds(0))
    lock_timeout = std::min(lock_timeout, options.statement_timeout / 2);
  const std::string lock_seconds = std::to_string(std::max(whole_seconds(lock_timeout), 1U));
  return send_text(connection,
                   "SET time_zone='+00:00', autocommit=1,"
                   " sql_mode='STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION',"
                   " innodb_lock_wait_timeout=" +
                       lock_seconds + ", lock_wait_timeout=" + lock_seconds + ", " +
                       flavour.statement_limit(options.statement_timeout));
}

Result<OpenedConnection> try_to_connect(const ServerOptions& options) {
  OpenedConnection opened(options.sockets);
  opened.handle.reset(mysql_init(nullptr));
  CHECK(opened.handle != nullptr);
  TRY_VOID(check_files(options.tls));
  set_options(opened.handle.get(), options);
  TRY_VOID(shake_hands(opened.handle.get(), options, opened.entry));
  TRY(opened.flavour, Flavour::of(mysql_get_server_info(opened.handle.get())));
  TRY_VOID(set_up_session(opened.handle.get(), opened.flavour, options));
  return opened;
}

}  // namespace

Result<OpenedConnection> connect(const ServerOptions& options) {
  auto opened = try_to_connect(options);
  if (!opened) opened.error().message = "no connection to " + address_of(options) + ": " + opened.error().message;
  return opened;
}

Result<void> send_text(MYSQL* connection, std::string_view sql) {
  if (mysql_real_query(connection, sql.data(), sql.size()) != 0) return base::propagate(last_error(connection));
  if (mysql_field_count(connection) == 0) return {};
  // Rows that the caller did not ask for have to be read all the same.
  MYSQL_RES* rows = mysql_store_result(connection);
  if (rows == nullptr) return base::propagate(last_error(connection));
  mysql_free_result(rows);
  return {};
}

}  // namespace postino::mysql
