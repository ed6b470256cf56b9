#include "app/client/email_watch.h"

#include <algorithm>

#include "app/client/answer.h"
#include "app/console/console.h"
#include "app/console/duration_text.h"
#include "app/console/terminal_text.h"
#include "base/text.h"
#include "base/this_thread.h"
#include "outbox/outbox.h"

namespace postino::app {

namespace {

using Clock = std::chrono::steady_clock;
using outbox::State;

constexpr base::Milliseconds poll_interval{200};
constexpr int time_columns = 24;    // "2026-11-15T09:30:00.250Z"
constexpr int status_columns = 24;  // "CALLING-INVALID-CALLBACK"

std::string history_line(const AnswerObject& entry) {
  std::string line = left_aligned(entry.text("at"), time_columns) + "  " +
                     left_aligned(entry.text("status"), status_columns) + "  " + entry.text("reason");
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

class EmailWatcher {
 public:
  EmailWatcher(RestClient& client, const std::string& id, const WatchOptions& options, const Console& console)
      : client_(client), id_(id), options_(options), console_(console) {}

  base::Result<int> run() {
    const Clock::time_point end = Clock::now() + options_.timeout;
    while (true) {
      TRY(const Delivery delivery, look());
      if (delivery != Delivery::pending) return status_of(delivery);
      const auto left = std::chrono::duration_cast<base::Milliseconds>(end - Clock::now());
      if (left <= base::Milliseconds(0)) return base::fail(base::ErrorCode::exhausted, too_late());
      base::Pause().wait(std::min(poll_interval, left));
    }
  }

 private:
  // A server that does not answer, or not now, has not lost the e-mail: it is asked again as long as there is time.
  base::Result<Delivery> look() {
    const auto body = client_.fetch(OperationCall("getEmail").set("id", id_));
    if (!body) {
      problem_ = body.error().message;
      const bool passing = body.error().code == base::ErrorCode::io || body.error().code == base::ErrorCode::exhausted;
      if (passing) return Delivery::pending;
      return base::propagate(body.error());
    }
    problem_.clear();
    TRY(const Answer answer, Answer::parse("getEmail", *body));
    status_ = answer.root().text("status");
    const Delivery delivery = delivery_of(status_, answer.root().flag("partly_sent"));
    if (!options_.json)
      print_news(answer.root());
    else if (delivery != Delivery::pending)
      console_.print_foreign(*body);
    if (delivery == Delivery::partly_sent) tell_who_did_not_get_it(answer.root());
    return delivery;
  }

  static int status_of(Delivery delivery) {
    if (delivery == Delivery::partly_sent) return partly;
    return delivery == Delivery::sent ? success : failure;
  }

  void tell_who_did_not_get_it(const AnswerObject& email) const {
    for (const AnswerObject& recipient : email.objects("recipients"))
      if (recipient.text("status") != "sent")
        report_error(console_,
                     {base::ErrorCode::conflict, "not sent to " + recipient.text("address") + ": " +
                                                     recipient.text("status") + ": " + recipient.text("reply")});
  }

  void print_news(const AnswerObject& email) {
    const auto history = email.objects("history");
    for (; printed_ < history.size(); ++printed_) console_.out << history_line(history[printed_]) << "\n";
    console_.out << std::flush;
  }

  std::string too_late() const {
    const std::string time = show_duration(options_.timeout);
    if (!problem_.empty()) return "after " + time + ": " + problem_;
    return "still " + status_ + " after " + time + ". See its state later with: postino emails show " + printable(id_);
  }

  RestClient& client_;
  const std::string& id_;
  const WatchOptions& options_;
  const Console& console_;
  std::string status_;
  std::string problem_;  // why the last look saw nothing
  std::size_t printed_ = 0;
};

}  // namespace

Delivery delivery_of(std::string_view status, bool is_partly_sent) {
  const auto state = outbox::parse_state(status);
  if (!state) return Delivery::pending;
  switch (*state) {
    case State::accepted:
    case State::intaking:
    case State::ready:
    case State::processing:
      return Delivery::pending;
    case State::sent:
    case State::calling_sent:
    case State::sent_acknowledged:
      return is_partly_sent ? Delivery::partly_sent : Delivery::sent;
    case State::failed:
    case State::invalid:
    case State::calling_failed:
    case State::calling_invalid:
    case State::failed_acknowledged:
    case State::invalid_acknowledged:
    case State::held:
    case State::cancelled:
      return Delivery::not_sent;
  }
  return Delivery::pending;
}

base::Result<int> watch_email(RestClient& client, const std::string& id, const WatchOptions& options,
                              const Console& console) {
  return EmailWatcher(client, id, options, console).run();
}

}  // namespace postino::app
