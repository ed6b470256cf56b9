// The files that settings name, looked at before a server needs them: can they be read and used, and who else may read
// the secrets in them?
#pragma once

#include <string>
#include <vector>

#include "app/settings/settings.h"

namespace postino::app {

struct FileFindings {
  SettingErrors errors;               // a server could not start with these files
  std::vector<std::string> warnings;  // it could, but everybody may read a secret
};

// `config` is the configuration file; empty when there is none. Passwords in the environment are looked up, too.
FileFindings look_at_files(const Settings& settings, const std::string& config, const Variable& variable);

}  // namespace postino::app
