#include "app/cli/send_command.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "app/client/answer_json.h"
#include "app/client/client_options.h"
#include "app/client/email_file.h"
#include "app/client/email_options.h"
#include "app/client/email_watch.h"
#include "app/client/file_sender.h"
#include "app/client/rest_client.h"
#include "app/client/rest_problem.h"
#include "app/console/input_file.h"
#include "app/console/terminal_text.h"
#include "app/server/setting_values.h"
#include "base/random.h"

namespace postino::app {

namespace {

constexpr std::size_t most_email_file_bytes = 1 << 30;

struct SendFlags {
  ClientOptions client = environment_client_options();
  EmailOptions email;
  std::string file;
  std::string idempotency_key;
  bool wait = false;
  std::string timeout = "60s";

  std::vector<const CLI::Option*> of_one_email;  // those that a file does not go together with
};

// "data[0].to[1]" -> "to[1]": there is only the one.
std::string field_of_only_email(const std::string& field) {
  constexpr std::string_view prefix = "data[0]";
  if (!field.starts_with(prefix)) return field;
  const std::string rest = field.substr(prefix.size());
  return rest.starts_with('.') ? rest.substr(1) : "the e-mail" + rest;
}

class Sending {
 public:
  Sending(const SendFlags& flags, const Console& console) : flags_(flags), console_(console) {}

  int run() const {
    WatchOptions watching;
    if (const auto checked = check(watching); !checked) return report_error(console_, checked.error(), misuse);
    auto client = RestClient::create(flags_.client);
    if (!client) return report_error(console_, client.error(), misuse);
    const auto status = flags_.file.empty() ? send_email(*client, watching) : send_file(*client);
    return status ? *status : report_error(console_, status.error());
  }

 private:
  base::Result<void> check(WatchOptions& watching) const {
    watching.json = flags_.client.json;
    auto timeout = parse_duration(flags_.timeout);
    if (!timeout) return base::invalid("--timeout: " + timeout.error().message);
    watching.timeout = *timeout;
    if (flags_.file.empty()) return check_email_options(flags_.email);
    for (const CLI::Option* option : flags_.of_one_email)
      if (option->count() > 0) return base::invalid("--file and " + option->get_name() + " do not go together");
    return {};
  }

  base::Result<int> send_email(RestClient& client, const WatchOptions& watching) const {
    TRY(const std::string payload, to_payload(flags_.email));
    base::SystemRandom random;
    const std::string key = flags_.idempotency_key.empty() ? base::make_uuid(random) : flags_.idempotency_key;
    auto response = client.post_emails("{\"data\":[" + payload + "]}", key);
    if (!response) return base::propagate(outcome_unknown(response.error(), key));
    json::Document document;
    const bool understood = parse_answer(document, response->body).has_value();
    const auto results = understood ? list_of(document.root(), "results") : std::vector<json::Element>();
    if (results.empty()) return base::propagate(describe_problem(*response, field_of_only_email));
    TRY(const std::string id, accepted_id(results.front()));
    if (flags_.wait) {
      if (!flags_.client.json) console_.out << "accepted " << printable(id) << "\n" << std::flush;
      return watch_email(client, id, watching, console_);
    }
    if (flags_.client.json)
      console_.print_foreign(response->body);
    else
      console_.out << "accepted " << printable(id) << "\n";
    return success;
  }

  base::Result<std::string> accepted_id(json::Element result) const {
    const auto error = result.member("error");
    if (!error) return raw_text_of(result, "id");
    return base::fail(base::ErrorCode::conflict, "refused " + text_of(result, "id") + ": " + text_of(*error, "code") +
                                                     ": " + text_of(*error, "message"));
  }

  // The answer may have been lost, and not the e-mail. The key makes a repetition harmless.
  static base::Error outcome_unknown(base::Error error, const std::string& key) {
    if (error.code == base::ErrorCode::io)
      error.message += ".\nWhether it was accepted is not known. Repeat the command with --idempotency-key " +
                       printable(key) + ", and it is not sent twice";
    return error;
  }

  base::Result<int> send_file(RestClient& client) const {
    const std::string name = flags_.file == "-" ? "the standard input" : flags_.file;
    TRY(const std::string text, read_input(flags_.file, most_email_file_bytes));
    const auto payloads = read_email_file(text);
    if (!payloads) return base::invalid(printable(name) + ": " + payloads.error().message);
    return FileSender(client, console_, flags_.client.json).send(*payloads, base::SystemClock().now());
  }

  const SendFlags& flags_;
  const Console& console_;
};

void add_email_option(CLI::App& command, SendFlags& flags, const char* flag, std::string& value, const char* type,
                      const char* help) {
  flags.of_one_email.push_back(command.add_option(flag, value, help)->type_name(type));
}

// One value for each time the flag is given: what follows it is not meant to be another.
void add_email_option(CLI::App& command, SendFlags& flags, const char* flag, std::vector<std::string>& values,
                      const char* type, const char* help) {
  flags.of_one_email.push_back(command.add_option(flag, values, std::string(help) + "; may be repeated")
                                   ->type_name(type)
                                   ->expected(1)
                                   ->allow_extra_args(false)
                                   ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll));
}

void add_email_options(CLI::App& command, SendFlags& flags) {
  EmailOptions& email = flags.email;
  const auto add = [&](const char* flag, auto& value, const char* type, const char* help) {
    add_email_option(command, flags, flag, value, type, help);
  };
  add("--from", email.from, "ADDRESS", "the sender");
  add("--to", email.to, "ADDRESS", "a recipient");
  add("--cc", email.cc, "ADDRESS", "a recipient of a copy");
  add("--bcc", email.bcc, "ADDRESS", "a recipient whom the others do not see");
  add("--reply-to", email.reply_to, "ADDRESS", "where answers go");
  add("--subject", email.subject, "TEXT", "the subject");
  add("--text", email.text, "TEXT", "the plain text");
  add("--text-file", email.text_file, "FILE", "a file with the plain text; - is the standard input");
  add("--html", email.html, "HTML", "the text as HTML");
  add("--html-file", email.html_file, "FILE", "a file with the HTML; - is the standard input");
  add("--attach", email.attachments, "FILE", "a file to attach");
  add("--header", email.headers, "\"NAME: VALUE\"", "another header of the message");
  add("--send-at", email.send_at, "TIME", "not before then (RFC 3339, such as 2026-11-15T09:30:00Z)");
  add("--callback-url", email.callback_url, "URL", "whom to tell what became of it");
  add("--tag", email.tags, "TEXT", "a tag to find it by");
  add("--id", email.id, "UUID", "its id; one is given to it by default");
  add("--idempotency-key", flags.idempotency_key, "KEY", "sent again with the same key, it is accepted once");
  flags.of_one_email.push_back(
      command.add_flag("--wait", flags.wait, "tell what happens to it until it is sent, or is known not to be"));
}

}  // namespace

Command add_send_command(CLI::App& program) {
  const auto flags = std::make_shared<SendFlags>();
  CLI::App* const command = program.add_subcommand("send", "send e-mails by way of a running postino");
  add_email_options(*command, *flags);
  command->add_option("--timeout", flags->timeout, "how long to --wait, 60s by default")->type_name("DURATION");
  command
      ->add_option("--file", flags->file,
                   "send the e-mails of this file: JSON, one or an array of them, or one on each line; - is the "
                   "standard input")
      ->type_name("FILE");
  add_client_options(*command, flags->client);
  return {command, [flags](const Console& console) { return Sending(*flags, console).run(); }};
}

}  // namespace postino::app
