#include "app/settings/mysql_settings.h"

#include "app/settings/setting_values.h"

namespace postino::app {

namespace {

using mysql::ServerOptions;
using mysql::TlsMode;
using mysql::TlsOptions;

constexpr Choices<TlsMode, 4> tls_modes = {{{{"off", TlsMode::off},
                                             {"preferred", TlsMode::preferred},
                                             {"required", TlsMode::required},
                                             {"verified", TlsMode::verified}}}};

base::Result<void> take_tls_mode(Settings& settings, const std::string& text) {
  TRY(settings.outbox.mysql.server.tls.mode, tls_modes.parse(text));
  return {};
}

// Names that must be there; NUL ends a text for the client library.
template <auto member>
base::Result<void> take_name(Settings& settings, const std::string& text) {
  if (text.empty() || text.size() > 255 || text.find('\0') != std::string::npos)
    return base::invalid("must have 1 to 255 characters");
  field(settings, member) = text;
  return {};
}

std::vector<Setting> server_settings() {
  using enum SettingKind;
  return {
      {"mysql.host", "--mysql-host", "POSTINO_MYSQL_HOST", "HOST", "host of the database: a name or an IP address",
       text, take_name<&ServerOptions::host>, show_text<&ServerOptions::host>},
      {"mysql.port", "--mysql-port", "POSTINO_MYSQL_PORT", "PORT", "port of the database", text,
       take_integer<&ServerOptions::port, 1, 65'535>, show_number<&ServerOptions::port>},
      {"mysql.socket", "--mysql-socket", "POSTINO_MYSQL_SOCKET", "FILE",
       "Unix socket of the database, instead of host and port", text, take_text<&ServerOptions::socket>,
       show_text<&ServerOptions::socket>},
      {"mysql.user", "--mysql-user", "POSTINO_MYSQL_USER", "NAME", "user name", text, take_name<&ServerOptions::user>,
       show_text<&ServerOptions::user>},
      {"mysql.password", "--mysql-password", "POSTINO_MYSQL_PASSWORD", "SECRET",
       "password; better given in the environment", text, take_text<&ServerOptions::password>,
       show_secret<&ServerOptions::password>},
      {"mysql.database", "--mysql-database", "POSTINO_MYSQL_DATABASE", "NAME", "database that holds the tables", text,
       take_name<&ServerOptions::database>, show_text<&ServerOptions::database>},
  };
}

std::vector<Setting> mysql_connection_settings() {
  using enum SettingKind;
  return {
      {"mysql.tls", "--mysql-tls", "POSTINO_MYSQL_TLS", "MODE",
       "off, preferred (if offered), required (with any certificate) or verified (with a certificate for the host name "
       "from a trusted authority)",
       text, take_tls_mode, [](const Settings& all) { return tls_modes.show(all.outbox.mysql.server.tls.mode); }},
      {"mysql.ca", "--mysql-ca", "POSTINO_MYSQL_CA", "FILE",
       "certificate authorities (PEM) to trust instead of the system's", text, take_text<&TlsOptions::ca_file>,
       show_text<&TlsOptions::ca_file>},
      {"mysql.certificate", "--mysql-certificate", "POSTINO_MYSQL_CERTIFICATE", "FILE", "client certificate (PEM)",
       text, take_text<&TlsOptions::certificate_file>, show_text<&TlsOptions::certificate_file>},
      {"mysql.key", "--mysql-key", "POSTINO_MYSQL_KEY", "FILE", "private key of the certificate (PEM)", text,
       take_text<&TlsOptions::key_file>, show_text<&TlsOptions::key_file>},
      {"mysql.pool", "--mysql-pool", "POSTINO_MYSQL_POOL", "COUNT", "largest number of connections to the database",
       text, take_integer<&mysql::PoolOptions::size, 1, 1'024>, show_number<&mysql::PoolOptions::size>},
      {"mysql.statement_timeout", "--mysql-statement-timeout", "POSTINO_MYSQL_STATEMENT_TIMEOUT", "DURATION",
       "longest time for a statement, at least 2s", text, take_duration<&ServerOptions::statement_timeout>,
       show_duration_of<&ServerOptions::statement_timeout>},
      {"mysql.several_servers", "--several-servers", "POSTINO_SEVERAL_SERVERS", "",
       "let several servers share the database, and in it the idempotency keys of all requests", flag,
       take_boolean<&MysqlSettings::several_servers>, show_boolean<&MysqlSettings::several_servers>},
      {"mysql.migrate", "--mysql-migrate", "POSTINO_MYSQL_MIGRATE", "",
       "at start, bring the tables of an earlier version up to date, as postino migrate does; tables in an empty "
       "database are always created",
       flag, take_boolean<&MysqlSettings::migrate>, show_boolean<&MysqlSettings::migrate>},
  };
}

}  // namespace

std::vector<Setting> mysql_settings() {
  std::vector<Setting> all = server_settings();
  for (Setting& setting : mysql_connection_settings()) all.push_back(std::move(setting));
  return all;
}

base::Result<void> check(const MysqlSettings& settings) {
  SettingErrors errors;
  const mysql::ServerOptions& server = settings.server;
  if (server.tls.certificate_file.empty() != server.tls.key_file.empty())
    errors.add("--mysql-certificate and --mysql-key must be given together");
  if (!server.socket.empty() && server.tls.mode == TlsMode::verified)
    errors.add("--mysql-tls verified cannot be given together with --mysql-socket");
  if (server.statement_timeout < std::chrono::seconds(2)) errors.add("--mysql-statement-timeout must be at least 2s");
  return errors.result();
}

}  // namespace postino::app
