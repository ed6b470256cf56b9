// The tables of all services, in one list: for the server, and for commands that show and make them.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "access/audit_chain.h"
#include "access/key_store.h"
#include "app/settings/settings.h"
#include "store/table_setup.h"

namespace postino::app {

// Those that the services need that the settings turn on, with their indexes, expiry, change streams and recovery.
std::vector<store::TableSetup> service_tables(const Settings& settings);

// Tables whose change streams are read: those above among them, and those of others that subscribers follow.
std::set<std::string> followed_tables(const Settings& settings);

// Where it is written down who has done what by both APIs; nullopt: nowhere.
std::optional<access::AuditOptions> audit_options(const Settings& settings);

// Where keys are in the store; nullopt: nowhere.
std::optional<access::KeyTable> key_table(const Settings& settings);

// Where people's decisions about reminders are written down.
std::string audit_table(const Settings& settings);

}  // namespace postino::app
