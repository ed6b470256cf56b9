#include <memory>

#include "api/protocol/limits.h"
#include "app/cli/client_command.h"
#include "app/cli/commands.h"
#include "app/client/answer.h"
#include "app/console/input_file.h"

namespace postino::app {

namespace {

void print_bounces(const AnswerObject& outcome, const Console& console) {
  console.out << "e-mail " << outcome.text("email_id") << "\n";
  for (const AnswerObject& bounce : outcome.objects("bounces"))
    console.out << "bounced " << bounce.text("recipient") << ": " << bounce.text("status") << " "
                << (bounce.flag("permanent") ? "permanent" : "temporary") << ": " << bounce.text("diagnostic") << "\n";
  for (const std::string& address : outcome.texts("suppressed[]")) console.out << "suppressed " << address << "\n";
}

base::Result<void> submit_report(RestClient& client, const std::string& file, bool json, const Console& console) {
  TRY(std::string report, read_input(file, api::Limits::body_bytes));
  TRY(const std::string body,
      client.fetch(OperationCall("takeBounce").set_content("message/rfc822", std::move(report))));
  TRY(const Answer answer, Answer::parse("takeBounce", body));
  if (json)
    console.print_foreign(body);
  else
    print_bounces(answer.root(), console);
  return {};
}

}  // namespace

void add_bounces_command(CommandLine& line) {
  CLI::App& bounces = add_command_group(line, line.program(), "bounces", "submit delivery reports");
  ClientCommand command(line, bounces, "submit", "takeBounce");
  const auto file = std::make_shared<std::string>();
  command.add_argument("message", *file,
                       {.value_name = "FILE", .help = "file with the report; - is the standard input"});
  command.run([file, &shared = command.shared()](RestClient& client, const Console& console) -> int {
    const auto submitted = submit_report(client, *file, shared.json, console);
    return submitted ? success : report_error(console, submitted.error());
  });
}

}  // namespace postino::app
