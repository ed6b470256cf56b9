#include "mysql/connector.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

#include "base/check.h"

namespace postino::mysql {

namespace {

// For values of up to 64 MB, with what belongs to them.
constexpr std::size_t largest_packet = 128 << 20;

// Ways to log in that do not show the password to who asks for it. Others only where the transport keeps it secret.
constexpr const char* discreet_ways = "mysql_native_password,client_ed25519,caching_sha2_password,sha256_password";

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
  const bool secret = by_socket || options.tls.mode == TlsMode::required || options.tls.mode == TlsMode::verified;
  if (!secret) set_text(connection, MARIADB_OPT_RESTRICTED_AUTH, discreet_ways);
  set_tls(connection, options);
}

// The library would only say that there is no such file.
Result<void> check_files(const TlsOptions& tls) {
  for (const std::string* file : {&tls.ca_file, &tls.certificate_file, &tls.key_file})
    if (!file->empty() && !std::ifstream(*file)) return fail(ErrorKind::refused, 0, "cannot read " + *file);
  return {};
}

Result<void> shake_hands(MYSQL* connection, const ServerOptions& options) {
  const char* host = options.socket.empty() ? options.host.c_str() : nullptr;
  const char* socket = options.socket.empty() ? nullptr : options.socket.c_str();
  const char* database = options.database.empty() ? nullptr : options.database.c_str();
  // Without a password the library would look for one in the environment; an empty one is none.
  if (mysql_real_connect(connection, host, options.user.c_str(), options.password.c_str(), database, options.port,
                         socket, 0) == nullptr) {
    Error error = last_error(connection);
    constexpr unsigned tls_failed = 2026;
    if (error.code == tls_failed) error.kind = ErrorKind::refused;
    return base::propagate(std::move(error));
  }
  if (options.socket.empty() && options.tls.mode == TlsMode::required && mysql_get_ssl_cipher(connection) == nullptr)
    return fail(ErrorKind::refused, 0, "TLS is required, but the server does not offer it");
  return {};
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
  OpenedConnection opened;
  opened.handle.reset(mysql_init(nullptr));
  CHECK(opened.handle != nullptr);
  TRY_VOID(check_files(options.tls));
  set_options(opened.handle.get(), options);
  TRY_VOID(shake_hands(opened.handle.get(), options));
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
