// What can be configured about the outbox and its REST API.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/protocol/access.h"
#include "app/settings/bucket_place.h"
#include "app/settings/mysql_settings.h"
#include "base/clock.h"
#include "base/result.h"
#include "outbox/outbox.h"
#include "outbox/store_ledger/store_layout.h"
#include "smtp/client.h"

namespace postino::app {

// A mail server: a name or an IP address, and a port.
struct RelayAddress {
  std::string host;
  std::uint16_t port = 25;
  std::string text() const;
};

// Where the outbox keeps its e-mails.
enum class LedgerKind { store, mysql };

struct OutboxSettings {
  bool off = false;
  bool sample = false;
  bool no_sending = false;

  std::string http_host = "127.0.0.1";  // an IP address
  std::uint16_t http_port = 8'080;
  std::vector<api::ApiKey> api_keys;
  std::vector<api::User> users;
  // Must callers of the REST API show who they are?
  bool has_callers() const { return !api_keys.empty() || !users.empty(); }
  std::string http_tls_certificate;
  std::string http_tls_key;
  bool require_idempotency_key = false;

  LedgerKind ledger = LedgerKind::store;
  MysqlSettings mysql;
  std::string table = "email-outbox";
  int shards = outbox::least_shards;
  bool no_status_index = false;
  std::string spool;           // a directory, or "s3://BUCKET/PREFIX"; empty: with the ledger
  std::string spool_replaces;  // id of the one that was used before; empty: none is replaced
  std::string attachments;     // a directory; empty: attachments by path are refused
  std::string message_id_domain;
  int batch = 25;
  base::Milliseconds lease{30'000};
  base::Milliseconds keep = std::chrono::hours(24 * 30);
  int intake_workers = 2;
  int callback_workers = 8;

  std::vector<RelayAddress> relays;  // none: the sandbox
  smtp::TlsPolicy smtp_tls = smtp::TlsPolicy::opportunistic;
  std::string smtp_ca;
  std::string smtp_user;
  std::string smtp_password;
  bool smtp_password_to_anyone = false;
  std::string smtp_from;
  std::string smtp_hello = "localhost";
  base::Milliseconds smtp_timeout{60'000};
  int smtp_connections = 16;
  int destination_concurrency = 0;
  int destination_rate = 0;

  base::Milliseconds retry_first = std::chrono::minutes(1);
  base::Milliseconds retry_longest = std::chrono::hours(4);
  base::Milliseconds give_up_after = std::chrono::hours(48);
  int max_attempts = 40;
  int max_rescues = 3;
  outbox::UnknownOutcomePolicy unknown_outcome = outbox::UnknownOutcomePolicy::resend;

  std::string callback_url;
  std::string callback_secret;
  base::Milliseconds callback_timeout{10'000};
  base::Milliseconds callback_retry_first{5'000};
  int callback_attempts = 12;
  bool callback_allow_private = false;
  std::string callback_ca;

  std::string dkim_domain;
  std::string dkim_selector;
  std::string dkim_key;
};

// Where the objects of a spool are: each outbox has names of its own. nullopt: it is in a directory, or with the
// ledger.
std::optional<BucketPlace> bucket_of_spool(const OutboxSettings& settings);

// Rules that concern several settings.
base::Result<void> check(const OutboxSettings& settings);

}  // namespace postino::app
