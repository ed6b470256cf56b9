#include "reminders/reminders.h"

#include <condition_variable>
#include <mutex>

#include "base/log.h"
#include "base/metrics_text.h"
#include "base/thread_pool.h"
#include "net/trouble.h"

namespace postino::reminders {

namespace {

// Those that wait for others: hand-overs to the outbox, and looks at what has become of e-mails. And erasures that were
// interrupted go on, and what others leave behind gets a time to expire.
class Upkeep {
 public:
  Upkeep(ReminderStore& store, Handovers& handovers, Deliveries& deliveries, Erasure& erasure, base::Milliseconds poll)
      : store_(store), handovers_(handovers), deliveries_(deliveries), erasure_(erasure), poll_(poll) {}
  ~Upkeep() { stop(); }

  void start() {
    const std::lock_guard lock(mutex_);
    stopping_ = false;
    if (!threads_.try_start([this] { run(); }))
      base::log_error("reminders", "the system has no thread for hand-overs and deliveries");
  }
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    threads_.join();
  }
  void wake() {
    {
      const std::lock_guard lock(mutex_);
      woken_ = true;
    }
    changed_.notify_all();
  }

 private:
  static constexpr int at_once = 100;

  // Work that cannot be done at all, with the words for its beginning and its end. Single records tell of themselves.
  struct Outage {
    const char* begin;
    const char* end;
    net::LastingTrouble trouble = {};
  };

  template <class Done>
  static void tell(Outage& outage, const OrRefusal<Done>& done) {
    if (!done && outage.trouble.fails(done.error().message))
      base::log_warning("reminders", outage.begin, {{"cause", done.error().message}});
    if (done && outage.trouble.works()) base::log_info("reminders", outage.end);
  }

  static bool is_more(const OrRefusal<int>& done) { return done && *done >= at_once; }

  void run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      woken_ = false;
      lock.unlock();
      store_.look_at_shards();
      const bool more_to_hand_over = is_more(handovers_.run_once(at_once));  // which tells what fails
      const bool more_to_look_at = is_more(deliveries_.run_once(at_once));   // so does this
      const OrRefusal<int> erased = erasure_.run_once(at_once);
      tell(erasures_, erased);
      tell(expiry_, store_.let_some_expire(at_once));
      lock.lock();
      if (more_to_hand_over || more_to_look_at || is_more(erased)) continue;
      changed_.wait_for(lock, poll_, [this] { return stopping_ || woken_; });
    }
  }

  ReminderStore& store_;
  Handovers& handovers_;
  Deliveries& deliveries_;
  Erasure& erasure_;
  Outage erasures_{"erasures that were interrupted are not finished", "erasures that were interrupted go on again"};
  Outage expiry_{"records of other programs do not expire", "records of other programs expire again"};
  const base::Milliseconds poll_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  bool woken_ = false;
  base::ThreadGroup threads_;  // the last member: its thread uses the others
};

}  // namespace

struct Reminders::Parts {
  Parts(store::Store& given, ReminderMailer& mail, const ReminderOptions& options, const base::Clock& clock,
        base::Random& random, store::Retry retry)
      : store(given, options.tables, options.rules, clock, random, std::move(retry)),
        customers(store, &mail),
        templates(store),
        drafts(store, customers, templates, mail),
        approvals(store, customers, mail, options.approval),
        history(store),
        audit(store),
        imports(customers),
        erasure(store, mail),
        summary(store),
        handovers(store, mail),
        deliveries(store, customers, mail),
        upkeep(store, handovers, deliveries, erasure, options.poll) {}

  ReminderStore store;
  Customers customers;
  Templates templates;
  Drafts drafts;
  Approvals approvals;
  History history;
  Audit audit;
  Imports imports;
  Erasure erasure;
  Summary summary;
  Handovers handovers;
  Deliveries deliveries;
  Upkeep upkeep;
};

Reminders::Reminders(store::Store& store, ReminderMailer& mail, const ReminderOptions& options,
                     const base::Clock& clock, base::Random& random, store::Retry retry)
    : parts_(std::make_unique<Parts>(store, mail, options, clock, random, std::move(retry))) {}

Reminders::~Reminders() = default;

base::Result<void> Reminders::prepare() { return parts_->store.prepare(); }
void Reminders::start() { parts_->upkeep.start(); }
void Reminders::stop() { parts_->upkeep.stop(); }
void Reminders::wake() { parts_->upkeep.wake(); }
void Reminders::note_email(const std::string& email_id) {
  parts_->deliveries.note(email_id);
  parts_->upkeep.wake();
}
std::optional<std::string> Reminders::why_not_send(const outbox::Email& email) {
  return parts_->deliveries.why_not_send(email);
}

void Reminders::append_metrics(std::string& out) const {
  const ReminderTroubles& troubles = parts_->store.troubles();
  base::append_metric_head(out, "postino_reminders_troubles_total", "counter",
                           "What did not work for a payment reminder and is tried again, by the work.");
  const auto append = [&](std::string_view work, std::int64_t count) {
    out.append("postino_reminders_troubles_total{work=\"").append(work).append("\"} ");
    out.append(std::to_string(count)).append("\n");
  };
  append("handover", troubles.handovers);
  append("delivery", troubles.deliveries);
  append("recall", troubles.recalls);
  append("erasure", troubles.erasures);
}

Customers& Reminders::customers() { return parts_->customers; }
Templates& Reminders::templates() { return parts_->templates; }
Drafts& Reminders::drafts() { return parts_->drafts; }
Approvals& Reminders::approvals() { return parts_->approvals; }
const Approvals& Reminders::approvals() const { return parts_->approvals; }
History& Reminders::history() { return parts_->history; }
Audit& Reminders::audit() { return parts_->audit; }
Imports& Reminders::imports() { return parts_->imports; }
Erasure& Reminders::erasure() { return parts_->erasure; }
Summary& Reminders::summary() { return parts_->summary; }
Handovers& Reminders::handovers() { return parts_->handovers; }
Deliveries& Reminders::deliveries() { return parts_->deliveries; }
const Rules& Reminders::rules() const { return parts_->store.rules(); }

}  // namespace postino::reminders
