// Commands that are made from the description of an operation alone: what its path names are arguments, and parameters
// and fields of its body are options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/cli/client_command.h"

namespace postino::app {

struct OperationCommand {
  std::string_view name;       // "approve"
  std::string_view operation;  // "approveDraft"
};

// It prints the object that the server answers with. Fields that hold long texts can also be read from a file, and
// those that hold objects in a list are read from one. What is in an object has options of its own: --customer-id.
void add_operation_command(CommandLine& line, CLI::App& parent, const OperationCommand& command);

// For a command whose operation takes an idempotency key: --idempotency-key.
void add_key_option(ClientCommand& command, std::string& key);
// The body of a successful answer, under this idempotency key, or under a new one if it is empty: what was done before
// is not done again, which the user is told whose key it is. When it is not known whether it was done, the error says
// with which key to repeat the command.
base::Result<std::string> fetch_once(RestClient& client, OperationCall call, const std::string& key,
                                     const Console& console);

}  // namespace postino::app
