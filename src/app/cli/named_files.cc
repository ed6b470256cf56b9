#include "app/cli/named_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "mail/dkim.h"
#include "net/client_tls.h"
#include "net/tls.h"

namespace postino::app {

namespace {

class FileInspection {
 public:
  FileInspection(const Settings& settings, const Variable& variable) : settings_(settings), variable_(variable) {}

  FileFindings look(const std::string& config) {
    look_at_config(config);
    look_at_pair({"--tls-certificate", settings_.tls_certificate}, {"--tls-key", settings_.tls_key});
    look_at_directory("--data", settings_.data.parent_path());
    if (settings_.store == StoreKind::dynamodb) look_at_authorities("--store-ca", settings_.remote.ca);
    look_at_directory("--log-file", std::filesystem::path(settings_.log_file).parent_path());
    if (!settings_.outbox.off) {
      look_at_outbox(settings_.outbox);
      if (!settings_.tickets.off || bucket_of_spool(settings_.outbox))
        look_at_authorities("--objects-ca", settings_.objects.ca);
      for (const auto& [name, connection] : settings_.messages.connections)
        if (!connection.embedded) look_at_connection(name, connection);
    }
    return std::move(findings_);
  }

 private:
  void note(const std::string& where, const base::Error& error) { findings_.errors.add(where + ": " + error.message); }

  void look_at_secret(const std::string& where, const std::string& file) {
    struct stat status {};
    if (file.empty() || ::stat(file.c_str(), &status) != 0 || (status.st_mode & S_IROTH) == 0) return;
    findings_.warnings.push_back(where + ": every user of this machine may read the secret in " + file +
                                 ": chmod o-r " + file);
  }

  struct NamedFile {
    std::string where;
    std::string file;
  };

  static bool can_be_read(const std::string& file) { return std::ifstream(file).is_open(); }

  // A certificate with its private key.
  void look_at_pair(const NamedFile& certificate, const NamedFile& key) {
    if (certificate.file.empty() || key.file.empty()) return;  // which is reported, if they must be given together
    if (const auto loaded = net::TlsContext::load({certificate.file, key.file}); !loaded) {
      note(certificate.where, loaded.error());
      // It has not come to the key.
      if (!can_be_read(certificate.file) && !can_be_read(key.file))
        findings_.errors.add(key.where + ": cannot read " + key.file);
    }
    look_at_secret(key.where, key.file);
  }

  void look_at_authorities(const std::string& where, const std::string& file) {
    if (file.empty()) return;
    if (const auto read = net::ClientTls::create({true, file}); !read) note(where, read.error());
  }

  // That must be there; an empty one is the current directory.
  void look_at_directory(const std::string& where, const std::filesystem::path& directory) {
    std::error_code error;
    if (directory.empty() || std::filesystem::is_directory(directory, error)) return;
    findings_.errors.add(where + ": there is no directory '" + directory.string() + "'");
  }

  void look_at_outbox(const OutboxSettings& outbox) {
    look_at_pair({"--http-tls-certificate", outbox.http_tls_certificate}, {"--http-tls-key", outbox.http_tls_key});
    look_at_authorities("--smtp-ca", outbox.smtp_ca);
    look_at_authorities("--callback-ca", outbox.callback_ca);
    look_at_directory("--attachments", outbox.attachments);
    if (!bucket_of_spool(outbox)) look_at_directory("--spool", std::filesystem::path(outbox.spool).parent_path());
    if (!outbox.dkim_key.empty() && !outbox.dkim_domain.empty() && !outbox.dkim_selector.empty()) {
      const auto signer = mail::DkimSigner::create({outbox.dkim_domain, outbox.dkim_selector, outbox.dkim_key});
      if (!signer) note("--dkim-key", signer.error());
      look_at_secret("--dkim-key", outbox.dkim_key);
    }
    if (outbox.ledger != LedgerKind::mysql) return;
    const mysql::TlsOptions& tls = outbox.mysql.server.tls;
    look_at_authorities("--mysql-ca", tls.ca_file);
    look_at_pair({"--mysql-certificate", tls.certificate_file}, {"--mysql-key", tls.key_file});
  }

  void look_at_connection(const std::string& name, const NamedConnection& connection) {
    const std::string where = "messages.connections." + name;
    if (const auto resolved = resolve(connection, variable_); !resolved) note(where, resolved.error());
    look_at_secret(where + ".password_file", connection.password_file);
    look_at_authorities(where + ".ca", connection.amqp.tls.authorities_file);
    look_at_pair({where + ".certificate", connection.amqp.tls.certificate_file},
                 {where + ".key", connection.amqp.tls.key_file});
  }

  // Only if it has secrets itself: they may be elsewhere.
  void look_at_config(const std::string& file) {
    Settings alone;
    if (!file.empty() && apply_file(alone, file) && show(alone).find(secret_mark) != std::string::npos)
      look_at_secret("--config", file);
  }

  const Settings& settings_;
  const Variable& variable_;
  FileFindings findings_;
};

}  // namespace

FileFindings look_at_files(const Settings& settings, const std::string& config, const Variable& variable) {
  return FileInspection(settings, variable).look(config);
}

}  // namespace postino::app
