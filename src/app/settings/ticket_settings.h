// What can be configured about the support desk, and about the object store that its attachments are in.
#pragma once

#include <map>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "support/support_desk.h"

namespace postino::app {

struct TicketSettings {
  bool off = false;
  std::string table = "prod-tickets-unified";
  support::DataForm data = support::DataForm::map;  // of new tickets
  int shards = 1;
  std::string from;                              // the sender of e-mails; empty: tickets send none
  std::string reply_to;                          // where answers go, if not there
  bool acknowledge = false;                      // tell customers that their tickets are there
  std::map<std::string, std::string> engineers;  // addresses by name
  bool no_adoption = false;                      // do not complete what other programs write
  int attachment_megabytes = 10;                 // of one attachment
};

struct ObjectSettings {
  std::string directory;  // empty: the folder `objects` in the data directory
  std::string bucket;     // of an S3-compatible object store, in the place of a directory
  std::string endpoint;   // "https://s3.eu-west-1.amazonaws.com"
  std::string region = "us-east-1";
  std::string key_id;
  std::string secret;
  std::string ca;                                         // authorities to trust (PEM) instead of the system's
  base::Milliseconds timeout = std::chrono::seconds(10);  // that a request waits for the bucket in all
};

// Rules that the value alone does not show, or that concern several settings.
base::Result<void> check(const TicketSettings& settings);
base::Result<void> check(const ObjectSettings& settings);
// What a bucket needs that this flag names. `finds_keys`: there may be keys elsewhere.
base::Result<void> check_bucket(const ObjectSettings& settings, const std::string& flag, bool finds_keys);

}  // namespace postino::app
