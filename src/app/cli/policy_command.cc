#include <CLI/CLI.hpp>
#include <memory>

#include "app/cli/command_line.h"
#include "app/cli/commands.h"
#include "app/cli/help_format.h"
#include "app/settings/policy_question.h"

namespace postino::app {

namespace {

struct PolicyTestFlags {
  PolicyQuestion question;
  bool json = false;
};

int test_policies(const PolicyTestFlags& flags, const Console& console) {
  const auto answered = answer(flags.question);
  if (!answered) return report_error(console, answered.error(), misuse);
  console.print_foreign(flags.json ? answered->json : answered->text);
  return answered->allowed ? success : failure;
}

}  // namespace

void add_policy_command(CommandLine& line) {
  CLI::App& group = *line.program().add_subcommand("policy", "what policies of DynamoDB's access keys allow");
  group.require_subcommand(1);
  CLI::App* const command = group.add_subcommand(
      "test", "say whether policies allow something, and why; ends with 1 if they do not. Needs no server");
  const auto flags = std::make_shared<PolicyTestFlags>();
  PolicyQuestion& question = flags->question;
  const auto several = [&](const char* flag, std::vector<std::string>& values, const char* value, const char* help) {
    command->add_option(flag, values, help)->type_name(value)->allow_extra_args(false);
  };
  several("--policy", question.policies, "FILE", "policy of the caller (JSON); may be repeated");
  several("--resource-policy", question.resource_policies, "FILE", "policy of the table or stream; may be repeated");
  command->add_option("--action", question.action, "what is done, such as dynamodb:GetItem")
      ->type_name("ACTION")
      ->required();
  command->add_option("--resource", question.resource, "ARN, or a table, or an index such as orders/index/by-date")
      ->type_name("RESOURCE");
  several("--context", question.context, "KEY=VALUE",
          "what is known of the call: dynamodb:LeadingKeys=17, aws:PrincipalTag/customer=17 and the like; may be "
          "repeated");
  command->add_option("--user", question.user, "name of the caller")->type_name("NAME");
  command->add_option("--region", question.region, "region of tables that are given by name")->type_name("NAME");
  command->add_option("--account", question.account, "account of the caller and the tables")->type_name("DIGITS");
  command->add_flag("--json", flags->json, "print JSON");
  add_examples(*command,
               {"postino policy test --policy reader.json --action GetItem --resource orders",
                "postino policy test --policy a.json --action Query --resource orders --context aws:username=anna"});
  line.add({command, [flags](const Console& console) { return test_policies(*flags, console); }, "", {}});
}

}  // namespace postino::app
