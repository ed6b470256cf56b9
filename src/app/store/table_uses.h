// What each service does with its tables: for the rights that a server needs, and for figures by service.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "app/settings/settings.h"
#include "remote/remote_store.h"

namespace postino::app {

struct TableUse {
  std::string_view service;  // "outbox"
  // As IAM calls them. The actions of a transaction count as what they are: PutItem, ConditionCheckItem, ...
  std::set<std::string, std::less<>> operations;
};

// Of each of service_tables(), by its name.
std::map<std::string, TableUse, std::less<>> table_uses(const Settings& settings);

// The same for the store over HTTP: what it must be able to do.
remote::NeededTables needed_operations(const Settings& settings);

}  // namespace postino::app
