#include <memory>

#include "app/cli/commands.h"
#include "app/cli/help_format.h"
#include "app/cli/listing_command.h"
#include "app/cli/operation_command.h"
#include "app/client/answer.h"
#include "app/console/password_prompt.h"

namespace postino::app {

namespace {

constexpr std::string_view sign_in_operation = "signIn";
constexpr int wrong_credentials = 401;

// The token alone, so that a script can take it as it is.
base::Result<void> sign_in(RestClient& client, const std::string& user, const ClientOptions& shared,
                           const Console& console) {
  OperationCall call(sign_in_operation);
  if (user.empty()) {
    call.body().set_text("api_key", shared.key);
  } else {
    TRY(const std::string password, read_password(console));
    call.body().set_text("user", user);
    call.body().set_text("password", password);
  }
  TRY(const http::ClientResponse response, client.send(call));
  // The server does not say which of them it is.
  if (response.status == wrong_credentials)
    return base::invalid(user.empty() ? "the API key is wrong" : "the name of the user or the password is wrong");
  if (response.status < 200 || response.status >= 300) return base::propagate(client.describe(response));
  TRY(const Answer answer, Answer::parse(sign_in_operation, response.body));
  console.print_foreign(shared.json ? response.body : answer.root().raw_text("token"));
  return {};
}

void add_sign_in_command(CommandLine& line, CLI::App& sessions) {
  ClientCommand command(line, sessions, "sign-in", sign_in_operation,
                        "sign in, and print the token of the new session, which --key takes");
  const auto user = std::make_shared<std::string>();
  command.add_option("user", *user,
                     {.value_name = "NAME",
                      .help = "name of the user; the password is read from the terminal or the standard input. "
                              "Without it, the API key is used"});
  add_examples(command.app(), {"export POSTINO_API_KEY=$(postino sessions sign-in --user anna)"});
  command.run([user, &shared = command.shared()](RestClient& client, const Console& console) -> int {
    if (user->empty() && shared.key.empty())
      return report_error(console, base::Error{base::ErrorCode::invalid, "one of --user and --key is required"},
                          misuse);
    const auto done = sign_in(client, *user, shared, console);
    return done ? success : report_error(console, done.error());
  });
}

std::vector<ListingColumn> session_columns() {
  return {
      {"SESSION", "id"}, {"KIND", "kind"}, {"BEGAN", "created_at"}, {"ENDS", "expires_at"}, {"FROM", "signed_in_from"}};
}

void add_session_lists(CommandLine& line, CLI::App& sessions) {
  static const Listing own{"listOwnSessions", "reading sessions", session_columns()};
  static const Listing of_user{"listSessions", "reading sessions", session_columns()};
  ClientCommand list(line, sessions, "list", own.operation, "list one's own sessions");
  run_listing(list, own);
  ClientCommand list_of(line, sessions, "list-of", of_user.operation);
  run_listing(list_of, of_user);
}

}  // namespace

void add_sessions_command(CommandLine& line) {
  CLI::App& sessions = add_command_group(line, line.program(), "sessions", "sign in, and list and end sessions");
  add_sign_in_command(line, sessions);
  add_session_lists(line, sessions);
  for (const OperationCommand& ending :
       {OperationCommand{"end", "endOwnSession"}, OperationCommand{"end-all", "endOwnSessions"},
        OperationCommand{"end-of", "endSession"}, OperationCommand{"end-all-of", "endSessions"}})
    add_operation_command(line, sessions, ending);
  add_examples(sessions, {"export POSTINO_API_KEY=$(postino sessions sign-in --user anna)", "postino sessions list",
                          "postino sessions end-all", "postino sessions list-of otto"});
}

}  // namespace postino::app
