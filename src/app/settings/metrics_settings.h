// What can be configured about live metrics, and about subscribers of the changes of tables.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace postino::app {

// Where the changes of a table go.
struct ChangeSubscriber {
  enum class Kind { webhook, queue, files };

  std::string name;
  std::string table;
  Kind kind = Kind::files;
  std::string connection;  // of a queue; empty: the default one
  std::string target;      // a URL, the name of a queue, or a directory

  std::string text() const;  // as it is given
};

// "NAME=TABLE:URL", "NAME=TABLE:queue:[CONNECTION:]QUEUE" or "NAME=TABLE:file:DIRECTORY".
base::Result<ChangeSubscriber> parse_subscriber(const std::string& text);

struct MetricsSettings {
  bool off = false;
  std::string table = "prod-metrics";
  bool emails = false;                                  // e-mails are counted from the changes of their table, too
  int batch = 100;                                      // changes that are handled together
  base::Milliseconds window = std::chrono::seconds(5);  // for which a batch waits to be full
  int retries = 3;                                      // of one change, before it is set aside
  std::vector<ChangeSubscriber> subscribers;
};

}  // namespace postino::app
