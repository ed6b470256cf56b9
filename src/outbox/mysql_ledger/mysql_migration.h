// Brings the schema of a database to the state this program needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "mysql/server_options.h"

namespace postino::outbox {

struct DoneMigration {
  int number = 0;
  std::string name;
};

struct MigrationOptions {
  std::string program_version;  // that is written down beside what it has done
  int up_to = 0;                // a number; 0: all there are
  // How long to wait for another program that is at it.
  base::Milliseconds wait = std::chrono::minutes(1);
};

// How many migrations the database lacks. conflict when it is newer than this program, which must not use it then.
base::Result<int> pending_migrations(const mysql::ServerOptions& server);
// The same, when a program that is migrating now has finished. conflict when that takes too long.
base::Result<int> pending_after_others(const mysql::ServerOptions& server, base::Milliseconds wait);

// Does what is missing, and says what that was. Only one program at a time does; a second one waits. A run that was
// broken off is repeated with the next one. conflict when the database is newer than this program.
base::Result<std::vector<DoneMigration>> migrate(const mysql::ServerOptions& server, const MigrationOptions& options);

// Callbacks for e-mails that another program had finished, and whose callbacks it had not made: without this they are
// its own to make. It must have ended, so what it was calling back for is not waited for. To be called after migrate().
// How many they are.
base::Result<std::uint64_t> take_over_callbacks(const mysql::ServerOptions& server,
                                                base::Milliseconds wait = std::chrono::minutes(1));

}  // namespace postino::outbox
