#include "app/cli/client_command.h"
#include "app/cli/commands.h"
#include "app/cli/operation_command.h"
#include "app/client/answer.h"
#include "app/console/password_prompt.h"

namespace postino::app {

namespace {

constexpr std::string_view sign_in_operation = "signIn";

// The token alone, so that a script can take it as it is.
base::Result<void> sign_in(RestClient& client, const std::string& user, const ClientOptions& shared,
                           const Console& console) {
  OperationCall call(sign_in_operation);
  if (user.empty() && shared.key.empty()) return base::invalid("give --user, or an API key to sign in with");
  if (user.empty()) {
    call.body().set_text("api_key", shared.key);
  } else {
    TRY(const std::string password, read_password(console));
    call.body().set_text("user", user);
    call.body().set_text("password", password);
  }
  TRY(const std::string body, client.fetch(call));
  TRY(const Answer answer, Answer::parse(sign_in_operation, body));
  console.print_foreign(shared.json ? body : answer.root().raw_text("token"));
  return {};
}

void add_sign_in_command(CommandLine& line, CLI::App& sessions) {
  ClientCommand command(line, sessions, "sign-in", sign_in_operation,
                        "sign in, and print the token of the session, which --key takes");
  const auto user = std::make_shared<std::string>();
  command.add_option("user", *user,
                     {.value_name = "NAME",
                      .help = "name of the user; the password is read from the terminal or the standard input. "
                              "Without it, the API key is used"});
  command.run([user, &shared = command.shared()](RestClient& client, const Console& console) -> int {
    const auto done = sign_in(client, *user, shared, console);
    return done ? success : report_error(console, done.error());
  });
}

}  // namespace

void add_sessions_command(CommandLine& line) {
  CLI::App& sessions = add_command_group(line, "sessions", "sign in, and list and end sessions");
  sessions.require_subcommand(1);
  add_sign_in_command(line, sessions);
  for (const OperationCommand& own :
       {OperationCommand{"list", "listOwnSessions"}, OperationCommand{"end", "endOwnSession"},
        OperationCommand{"end-all", "endOwnSessions"}, OperationCommand{"list-of", "listSessions"},
        OperationCommand{"end-of", "endSession"}, OperationCommand{"end-all-of", "endSessions"}})
    add_operation_command(line, sessions, own);
}

}  // namespace postino::app
