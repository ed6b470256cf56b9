// A connection to a message broker that has a name: [messages.connections.NAME] in the file, or NAME=URL as a flag.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "broker/amqp_client.h"
#include "broker/managed_broker.h"

namespace postino::app {

struct NamedConnection {
  bool embedded = false;  // the queues in the store: the rest does not matter then
  broker::ConnectionSettings amqp;
  std::string management;         // the URL of its management API; empty: none
  std::string password_file;      // where the password is, in place of the password
  std::string password_variable;  // or this, in the environment
};
using NamedConnections = std::map<std::string, NamedConnection, std::less<>>;

// A value for one setting of one connection, which is there from now on: "main.endpoints". `origin` is how an error
// calls it.
base::Result<void> apply(NamedConnections& connections, const std::string& key, const std::vector<std::string>& values,
                         const std::string& origin);
// Does the setting "main.endpoints" take several values?
bool takes_list(std::string_view key);

// "main=amqps://user:password@broker.example:5671"; for a name that is there it is one more endpoint. User and password
// may be left out, and are percent-encoded. Fails with the rule, and never with the password.
base::Result<void> add_url(NamedConnections& connections, const std::string& text);

// Lines for a configuration file, each beginning with `prefix`, secrets left out.
std::string show(const NamedConnections& connections, const std::string& prefix);

// Fails with the name of the connection and the rule.
base::Result<void> check(const NamedConnections& connections);

// What would be ignored beside the other settings of its connection, and why.
std::vector<std::string> settings_without_effect(const NamedConnections& connections);

// Looks up an environment variable; nullptr when it is not set.
using Variable = std::function<const char*(const std::string& name)>;

// The settings with the password, wherever that is.
base::Result<broker::ConnectionSettings> resolve(const NamedConnection& connection, const Variable& variable);
// Of its management API, from the settings with the password; nullopt when it has none.
std::optional<broker::ManagementSettings> management_of(const NamedConnection& connection,
                                                        const broker::ConnectionSettings& resolved);

}  // namespace postino::app
