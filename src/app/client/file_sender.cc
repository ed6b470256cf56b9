#include "app/client/file_sender.h"

#include <charconv>
#include <set>

#include "app/client/answer.h"
#include "app/client/rest_problem.h"
#include "app/console/console.h"
#include "app/console/terminal_text.h"

namespace postino::app {

namespace {

// "data[3].to" of the second batch -> "[103].to" of the file.
std::string field_in_file(const std::string& field, std::size_t first) {
  constexpr std::string_view start = "data[";
  std::size_t index = 0;
  if (!field.starts_with(start)) return field;
  const char* const end = field.data() + field.size();
  const auto [rest, error] = std::from_chars(field.data() + start.size(), end, index);
  if (error != std::errc()) return field;
  return "[" + std::to_string(first + index) + std::string(rest, end);
}

std::size_t faulty_count(const std::vector<json::FieldError>& faults) {
  std::set<std::string_view> places;
  for (const json::FieldError& fault : faults)
    places.insert(std::string_view(fault.field).substr(0, fault.field.find(']')));
  return places.size();
}

bool has_results(const http::ClientResponse& response) {
  const auto answer = Answer::parse("acceptEmails", response.body);
  return answer && answer->root().has("results");
}

}  // namespace

int FileSender::send(const std::vector<std::string>& payloads, base::TimePoint now) {
  if (const auto faults = faults_of(payloads, now); !faults.empty()) return refuse(payloads, faults);
  base::Result<void> going;
  {
    ProgressBar progress(console_.errors, console_.errors_columns, "sending",
                         static_cast<std::int64_t>(payloads.size()));
    for (std::size_t next = 0; next < payloads.size() && going;) {
      progress.show(static_cast<std::int64_t>(next));
      const EmailBatch batch = batch_at(payloads, next);
      going = send_batch(batch, progress);
      next += batch.count;
    }
  }
  if (!going) report_error(console_, going.error());
  print_summary(payloads.size());
  if (!going) console_.errors << "Send the same file again to continue: accepted e-mails are not sent twice.\n";
  return going && refused_ == 0 ? success : failure;
}

int FileSender::refuse(const std::vector<std::string>& payloads, const std::vector<json::FieldError>& faults) const {
  for (const json::FieldError& fault : faults)
    console_.errors << printable(fault.field) << " " << printable(fault.rule) << "\n";
  const auto faulty = static_cast<std::int64_t>(faulty_count(faults));
  return report_error(console_,
                      {base::ErrorCode::invalid, grouped(faulty) + " of " +
                                                     counted(static_cast<std::int64_t>(payloads.size()), "e-mail") +
                                                     (faulty == 1 ? " is" : " are") + " invalid; none was sent"});
}

base::Result<void> FileSender::send_batch(const EmailBatch& batch, ProgressBar& progress) {
  TRY(const http::ClientResponse response, client_.send_with_key(acceptance_call(batch.payloads), batch.key));
  if (has_results(response)) return note_results(batch, response, progress);
  return base::propagate(
      describe_problem(response, [&batch](const std::string& field) { return field_in_file(field, batch.first); }));
}

base::Result<void> FileSender::note_results(const EmailBatch& batch, const http::ClientResponse& response,
                                            ProgressBar& progress) {
  TRY(const Answer read, Answer::parse("acceptEmails", response.body));
  const auto results = read.root().objects("results");
  if (results.size() != batch.count)
    return base::fail(base::ErrorCode::malformed, "the response has results for " + std::to_string(results.size()) +
                                                      " of " + std::to_string(batch.count) + " e-mails");
  if (json_) {
    progress.clear();
    console_.print_foreign(response.body);
  }
  const bool is_repeat = response.header("Idempotent-Replayed") == "true";
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto error = results[i].object("error");
    ++(error ? refused_ : accepted_);
    if (!error && is_repeat) ++accepted_before_;
    if (!error) continue;
    progress.clear();
    console_.errors << json::element_path("", batch.first + i) << " " << results[i].text("id") << ": "
                    << error->text("code") << ": " << error->text("message") << "\n";
  }
  return {};
}

void FileSender::print_summary(std::size_t total) const {
  const auto all = static_cast<std::int64_t>(total);
  std::ostream& out = json_ ? console_.errors : console_.out;
  out << counted(all, "e-mail") << ": " << grouped(accepted_) << " accepted";
  if (accepted_before_ > 0) out << " (" << grouped(accepted_before_) << " by an earlier request)";
  out << ", " << grouped(refused_) << " refused";
  if (const std::int64_t left = all - accepted_ - refused_; left > 0) out << ", " << grouped(left) << " not sent";
  out << "\n" << std::flush;
}

}  // namespace postino::app
