#include <memory>

#include "app/cli/client_command.h"
#include "app/cli/commands.h"
#include "app/client/answer.h"
#include "app/client/email_file.h"
#include "app/client/email_options.h"
#include "app/client/email_watch.h"
#include "app/client/file_sender.h"
#include "app/client/rest_problem.h"
#include "app/console/duration_text.h"
#include "app/console/input_file.h"
#include "app/console/terminal_text.h"
#include "base/random.h"

namespace postino::app {

namespace {

constexpr std::size_t most_email_file_bytes = 1 << 30;

struct SendOptions {
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
  Sending(RestClient& client, const SendOptions& options, bool json, const Console& console)
      : client_(client), options_(options), json_(json), console_(console) {}

  int run() const {
    WatchOptions watching;
    if (const auto checked = check(watching); !checked) return report_error(console_, checked.error(), misuse);
    const auto status = options_.file.empty() ? send_email(watching) : send_file();
    return status ? *status : report_error(console_, status.error());
  }

 private:
  base::Result<void> check(WatchOptions& watching) const {
    watching.json = json_;
    const auto timeout = parse_duration(options_.timeout);
    if (!timeout) return base::invalid("--timeout: " + timeout.error().message);
    watching.timeout = *timeout;
    if (options_.file.empty()) return check_email_options(options_.email);
    for (const CLI::Option* option : options_.of_one_email)
      if (option->count() > 0) return base::invalid("--file and " + option->get_name() + " cannot be used together");
    return {};
  }

  base::Result<int> send_email(const WatchOptions& watching) const {
    TRY(const std::string payload, to_payload(options_.email));
    base::SystemRandom random;
    const std::string key = options_.idempotency_key.empty() ? base::make_uuid(random) : options_.idempotency_key;
    const auto response = client_.send_with_key(acceptance_call("[" + payload + "]"), key);
    if (!response) return base::propagate(outcome_unknown(response.error(), key));
    const auto answer = Answer::parse("acceptEmails", response->body);
    const auto results = answer ? answer->root().objects("results") : std::vector<AnswerObject>();
    if (results.empty()) return base::propagate(describe_problem(*response, field_of_only_email));
    TRY(const std::string id, accepted_id(results.front()));
    // Under a key of our own it is this command that has asked twice.
    if (!options_.idempotency_key.empty() && response->header("Idempotent-Replayed") == "true")
      console_.errors << "The e-mail was accepted before under this idempotency key, and was not accepted again.\n";
    if (options_.wait) {
      if (!json_) console_.out << "accepted " << printable(id) << "\n" << std::flush;
      return watch_email(client_, id, watching, console_);
    }
    if (json_)
      console_.print_foreign(response->body);
    else
      console_.out << "accepted " << printable(id) << "\n";
    return success;
  }

  static base::Result<std::string> accepted_id(const AnswerObject& result) {
    const auto error = result.object("error");
    if (!error) return result.raw_text("id");
    return base::fail(base::ErrorCode::conflict,
                      "refused " + result.text("id") + ": " + error->text("code") + ": " + error->text("message"));
  }

  // The answer may have been lost, and not the e-mail. The key makes a repetition harmless.
  static base::Error outcome_unknown(base::Error error, const std::string& key) {
    if (error.code == base::ErrorCode::io)
      error.message += ".\nIt is unknown whether the e-mail was accepted. Repeat the command with --idempotency-key " +
                       printable(key) + ": the e-mail will not be sent twice";
    return error;
  }

  base::Result<int> send_file() const {
    const std::string name = options_.file == "-" ? "the standard input" : options_.file;
    TRY(const std::string text, read_input(options_.file, most_email_file_bytes));
    const auto payloads = read_email_file(text);
    if (!payloads) return base::invalid(printable(name) + ": " + payloads.error().message);
    return FileSender(client_, console_, json_).send(*payloads, base::SystemClock().now());
  }

  RestClient& client_;
  const SendOptions& options_;
  const bool json_;
  const Console& console_;
};

// Those that describe one e-mail: each stands for a field of its payload.
void add_email_options(ClientCommand& command, SendOptions& options) {
  EmailOptions& email = options.email;
  const auto add = [&](const std::string& field, auto& value, const OptionStyle& style = {}) {
    options.of_one_email.push_back(command.add_option("data[]." + field, value, style));
  };
  add("from", email.from);
  add("to", email.to);
  add("cc", email.cc);
  add("bcc", email.bcc);
  add("reply_to", email.reply_to);
  add("subject", email.subject);
  add("body_text", email.text, {.flag = "--text"});
  add("body_text", email.text_file,
      {.flag = "--text-file", .value_name = "FILE", .help = "file with the plain text; - is the standard input"});
  add("body_html", email.html, {.flag = "--html", .value_name = "HTML"});
  add("body_html", email.html_file,
      {.flag = "--html-file", .value_name = "FILE", .help = "file with the HTML; - is the standard input"});
  add("attachments", email.attachments, {.flag = "--attach", .value_name = "FILE", .help = "file to attach"});
  add("custom_headers", email.headers,
      {.flag = "--header", .value_name = "\"NAME: VALUE\"", .help = "additional header of the message"});
  add("send_at", email.send_at);
  add("callback_url", email.callback_url);
  add("tags", email.tags, {.flag = "--tag", .help = "tag of the e-mail"});
  add("id", email.id);
  options.of_one_email.push_back(command.add_option(
      "Idempotency-Key", options.idempotency_key,
      {.value_name = "KEY", .help = "idempotency key: with the same key, the e-mail is accepted only once"}));
  options.of_one_email.push_back(
      command.app().add_flag("--wait", options.wait, "print the history of the e-mail until it is sent or has failed"));
}

}  // namespace

void add_send_command(CommandLine& line) {
  ClientCommand command(line, line.program(), "send", "acceptEmails", "send e-mails through a server");
  const auto options = std::make_shared<SendOptions>();
  add_email_options(command, *options);
  command.app().add_option("--timeout", options->timeout, "how long to --wait; 60s by default")->type_name("DURATION");
  command.app()
      .add_option("--file", options->file,
                  "send the e-mails of this file: JSON, one, an array, or one per line; - is the standard "
                  "input")
      ->type_name("FILE");
  command.run([options, &shared = command.shared()](RestClient& client, const Console& console) {
    return Sending(client, *options, shared.json, console).run();
  });
}

}  // namespace postino::app
