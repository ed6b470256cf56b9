#include "app/client/email_changes.h"

#include "app/console/console.h"
#include "app/console/progress_bar.h"
#include "app/console/terminal_text.h"
#include "json/document.h"
#include "json/writer.h"

namespace postino::app {

namespace {

constexpr std::size_t few = 10;  // so many need no progress bar

bool is_about_this_one(const http::ClientResponse& response) {
  return response.status == 404 || response.status == 409 || response.status == 400;
}

class Changer {
 public:
  Changer(RestClient& client, const EmailChange& change, const EmailChangeOptions& options, const Console& console)
      : client_(client), change_(change), options_(options), console_(console) {}

  int run() {
    const std::vector<std::string>& ids = options_.ids;
    base::Result<void> going;
    {
      const bool terminal_is_free = ids.size() > few && !console_.out_columns;
      ProgressBar progress(console_.errors, terminal_is_free ? console_.errors_columns : std::nullopt,
                           std::string(change_.name), static_cast<std::int64_t>(ids.size()));
      for (std::size_t i = 0; i < ids.size() && going; ++i) {
        progress.show(static_cast<std::int64_t>(i));
        going = change(ids[i], progress);
      }
    }
    if (!going) report_error(console_, going.error());
    if (ids.size() > 1) print_summary(static_cast<std::int64_t>(ids.size()));
    return going && refused_ == 0 ? success : failure;
  }

 private:
  base::Result<void> change(const std::string& id, ProgressBar& progress) {
    OperationCall call(change_.operation);
    call.set(change_.parameter, id);
    if (!options_.reason.empty()) call.body().set_text("reason", options_.reason);
    TRY(const http::ClientResponse response, client_.send(call));
    const bool done = response.status >= 200 && response.status < 300;
    if (!done && !is_about_this_one(response)) return base::propagate(client_.describe(response));
    ++(done ? done_ : refused_);
    if (options_.json) {
      console_.out << json_line(id, response) << "\n";
    } else if (done) {
      console_.out << change_.done << " " << printable(id) << "\n";
    } else {
      progress.clear();
      report_error(console_, {base::ErrorCode::conflict, printable(id) + ": " + client_.describe(response).message});
    }
    return {};
  }

  // The server has nothing to say about a change that is done, so the line is ours.
  std::string json_line(const std::string& id, const http::ClientResponse& response) const {
    std::string line;
    json::Writer json(line);
    json.begin_object();
    json.key(change_.parameter).string(id);
    json.key("status").integer(response.status);
    json::Document document;
    json::FieldErrors errors;
    if (!response.body.empty() && document.parse(response.body, errors))
      json.key("problem").raw(document.root().compact());
    json.end_object();
    return line;
  }

  void print_summary(std::int64_t total) const {
    std::ostream& out = options_.json ? console_.errors : console_.out;
    out << counted(total, change_.noun) << ": " << grouped(done_) << " " << change_.done << ", " << grouped(refused_)
        << " refused";
    if (const std::int64_t left = total - done_ - refused_; left > 0) out << ", " << grouped(left) << " not tried";
    out << "\n" << std::flush;
  }

  RestClient& client_;
  const EmailChange& change_;
  const EmailChangeOptions& options_;
  const Console& console_;
  std::int64_t done_ = 0;
  std::int64_t refused_ = 0;
};

}  // namespace

const std::vector<EmailChange>& all_email_changes() {
  static const std::vector<EmailChange> changes = {
      {"requeue", "requeueEmail", "requeued"}, {"retry", "retryEmail", "due now"},
      {"cancel", "cancelEmail", "cancelled"},  {"hold", "holdEmail", "held"},
      {"release", "releaseEmail", "released"},
  };
  return changes;
}

const EmailChange& callback_replay() {
  static const EmailChange change{"replay", "replayCallback", "replayed", "id", "callback"};
  return change;
}

const EmailChange& suppression() {
  static const EmailChange change{"add", "suppressAddress", "suppressed", "address", "recipient"};
  return change;
}

const EmailChange& unsuppression() {
  static const EmailChange change{"remove", "unsuppressAddress", "removed", "address", "recipient"};
  return change;
}

int change_emails(RestClient& client, const EmailChange& change, const EmailChangeOptions& options,
                  const Console& console) {
  return Changer(client, change, options, console).run();
}

}  // namespace postino::app
