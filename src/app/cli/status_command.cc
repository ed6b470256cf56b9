// What a server says of itself: whether it works, what is wrong, how many e-mails are in which state, and the last
// backup.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/client_command.h"
#include "app/cli/commands.h"
#include "app/cli/help_format.h"
#include "app/client/answer.h"
#include "app/console/terminal_text.h"
#include "json/writer.h"

namespace postino::app {

namespace {

constexpr std::string_view count_operation = "countEmails", backup_state_operation = "showBackupState";

struct Readiness {
  bool is_ready = false;
  std::vector<std::string> problems;
};

// "ready", "ready, but A; B" or "not ready: A; B".
std::optional<Readiness> readiness_of(const http::ClientResponse& page) {
  std::string_view text = page.body;
  while (text.ends_with('\n')) text.remove_suffix(1);
  Readiness readiness;
  readiness.is_ready = page.status == 200;
  const std::string_view head = readiness.is_ready ? "ready" : "not ready";
  if (!text.starts_with(head)) return std::nullopt;
  text.remove_prefix(head.size());
  for (const std::string_view link : {std::string_view(", but "), std::string_view(": ")})
    if (text.starts_with(link)) text.remove_prefix(link.size());
  while (!text.empty()) {
    const std::size_t end = text.find("; ");
    readiness.problems.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 2);
  }
  return readiness;
}

// The body of an answer; empty when there is no such service here, or this key may not see it.
base::Result<std::string> fetch_if_there(RestClient& client, std::string_view operation) {
  TRY(const http::ClientResponse response, client.send(OperationCall(operation)));
  if (response.status == 200) return response.body;
  if (response.status == 401) return base::propagate(client.describe(response));
  return std::string();
}

void print_counts(const Answer& counts, const Console& console) {
  std::string line;
  for (const auto& [state, count] : counts.root().numbers("counts"))
    if (count > 0) line.append(line.empty() ? "" : ", ").append(grouped(count)).append(" ").append(state);
  console.out << "E-mails: " << (line.empty() ? "none" : line) << "\n";
}

void print_backups(const AnswerObject& state, const Console& console) {
  console.out << "Backups: ";
  if (state.has("newest_at"))
    console.out << "the newest, " << state.text("last_id") << ", is of " << state.text("newest_at");
  else
    console.out << "none yet";
  if (state.flag("running"))
    console.out << "; one is being made";
  else if (state.has("next_at"))
    console.out << "; the next one follows at " << state.text("next_at");
  console.out << "\n";
}

struct ServerStatus {
  Readiness readiness;
  std::string counts;  // of e-mails, as the API answers; empty: it does not say
  std::string backups;
};

base::Result<ServerStatus> ask(RestClient& client) {
  TRY(const http::ClientResponse page, client.page("/readyz"));
  const auto readiness = readiness_of(page);
  if (!readiness)
    return base::fail(base::ErrorCode::malformed, "the response is not from a Postino server. Is --url right?");
  ServerStatus status{*readiness, {}, {}};
  auto counts = fetch_if_there(client, count_operation);
  // Without its store, or a key that may read, a server still says whether it is ready.
  if (counts) status.counts = *std::move(counts);
  auto backups = fetch_if_there(client, backup_state_operation);
  if (backups) status.backups = *std::move(backups);
  return status;
}

base::Result<void> print(const ServerStatus& status, const Console& console) {
  console.out << (status.readiness.is_ready ? "ready" : "not ready")
              << (status.readiness.problems.empty() ? "\n"
                  : status.readiness.is_ready       ? ", but:\n"
                                                    : ":\n");
  for (const std::string& problem : status.readiness.problems) console.out << "  " << printable(problem) << "\n";
  if (!status.counts.empty()) {
    TRY(const Answer counts, Answer::parse(count_operation, status.counts));
    print_counts(counts, console);
  }
  if (!status.backups.empty()) {
    TRY(const Answer backups, Answer::parse(backup_state_operation, status.backups));
    print_backups(backups.root(), console);
  }
  return {};
}

std::string json_of(const ServerStatus& status) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("ready").boolean(status.readiness.is_ready);
  json.key("problems").begin_array();
  for (const std::string& problem : status.readiness.problems) json.string(problem);
  json.end_array();
  if (!status.counts.empty()) json.key("emails").raw(status.counts);
  if (!status.backups.empty()) json.key("backups").raw(status.backups);
  json.end_object();
  return text;
}

int show_status(RestClient& client, const ClientOptions& shared, const Console& console) {
  const auto status = ask(client);
  if (!status) return report_error(console, status.error());
  if (shared.json)
    console.print_foreign(json_of(*status) + "\n");
  else if (const auto printed = print(*status, console); !printed)
    return report_error(console, printed.error());
  return status->readiness.is_ready ? success : failure;
}

}  // namespace

void add_status_command(CommandLine& line) {
  ClientCommand command(line, line.program(), "status", backup_state_operation,
                        "say whether a server is ready, what is wrong, what waits, and how old the last backup is");
  command.run([&shared = command.shared()](RestClient& client, const Console& console) {
    return show_status(client, shared, console);
  });
  add_examples(command.app(), {"postino status", "postino status --json"});
}

}  // namespace postino::app
