#include <memory>

#include "app/cli/commands.h"
#include "app/cli/help_format.h"
#include "app/cli/listing_command.h"
#include "app/client/answer.h"

namespace postino::app {

namespace {

constexpr std::string_view verify_operation = "verifyAudit";

const Listing& audit_listing() {
  static const Listing listing{"listAudit",
                               "reading the audit",
                               {{"TIME", "at"},
                                {"WHO", "actor"},
                                {"FROM", "from"},
                                {"ACTION", "action"},
                                {"RESULT", "result"},
                                {"SUBJECT", "subject"}}};
  return listing;
}

void print_verdict(const AnswerObject& verdict, const Console& console) {
  for (const AnswerObject& fault : verdict.objects("faults")) {
    std::string place = fault.text("chain");
    if (fault.has("number")) place += " " + std::to_string(fault.number("number"));
    console.errors << (place.empty() ? "" : place + ": ") << fault.text("fault") << "\n";
  }
  console.out << verdict.number("entries") << " entries, "
              << (verdict.flag("intact") ? "nothing was changed or removed" : "not as they were written") << "\n";
  for (const std::string& head : verdict.texts("heads[]")) console.out << head << "\n";
}

void add_verify(CommandLine& line, CLI::App& group) {
  ClientCommand command(line, group, "verify", verify_operation,
                        "tell whether entries were changed or removed, and print the last one of each chain");
  const auto known = std::make_shared<std::string>();
  command.add_option("known", *known,
                     {.value_name = "CHAIN:NUMBER:DIGEST",
                      .help = "what an earlier verification has printed, several separated by commas: these entries "
                              "must still be there"});
  add_examples(command.app(), {"postino audit verify"});
  command.run([known, &shared = command.shared()](RestClient& client, const Console& console) -> int {
    const auto body = client.fetch(OperationCall(verify_operation).set("known", *known));
    if (!body) return report_error(console, body.error());
    const auto answer = Answer::parse(verify_operation, *body);
    if (!answer) return report_error(console, answer.error());
    if (shared.json)
      console.print_foreign(*body);
    else
      print_verdict(answer->root(), console);
    return answer->root().flag("intact") ? success : failure;
  });
}

}  // namespace

void add_audit_command(CommandLine& line) {
  CLI::App& group = add_command_group(line, line.program(), "audit", "list who has done what, and verify that list");
  ClientCommand list(line, group, "list", audit_listing().operation);
  run_listing(list, audit_listing());
  add_verify(line, group);
  add_examples(group, {"postino audit list --actor anna", "postino audit list --action dynamodb:DeleteTable",
                       "postino audit verify"});
}

}  // namespace postino::app
