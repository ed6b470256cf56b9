#include "support/support_desk.h"

#include <condition_variable>
#include <mutex>

#include "base/log.h"
#include "base/thread_pool.h"
#include "net/trouble.h"

namespace postino::support {

namespace {

// What is done beside requests: e-mails are handed over to the outbox, and changes of other programs completed.
class DeskUpkeep {
 public:
  DeskUpkeep(TicketStore& store, Handovers& handovers, Adoption& adoption, const SupportOptions& options)
      : store_(store), handovers_(handovers), adoption_(adoption), poll_(options.poll), adopts_(options.adopts) {}
  ~DeskUpkeep() { stop(); }

  void start() {
    if (!threads_.try_start([this] { run([this] { return hand_over(); }); }) ||
        (adopts_ && !threads_.try_start([this] { run([this] { return adopt(); }); })))
      base::log_error("support", "the system has no thread for hand-overs and changes of other programs");
  }
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    adoption_.close();
    threads_.join();
    adoption_.leave();
  }
  void wake() {
    {
      const std::lock_guard lock(mutex_);
      ++wakings_;
    }
    changed_.notify_all();
  }

 private:
  static constexpr int at_once = 100;
  static constexpr base::Milliseconds wait_for_changes = std::chrono::seconds(5);

  // True when there may be more to do now.
  bool hand_over() {
    store_.look_at_shards();
    const auto done = handovers_.run_once(at_once);  // which tells what fails
    return done && *done >= at_once;
  }
  bool adopt() {
    const auto done = adoption_.run_once(at_once, wait_for_changes);
    if (!done && adoption_trouble_.fails(done.error().message))
      base::log_warning("support", "changes of other programs are not completed now",
                        {{"cause", done.error().message}});
    if (done && adoption_trouble_.works()) base::log_info("support", "changes of other programs are completed again");
    return done.has_value();
  }

  template <class Work>
  void run(const Work& work) {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      const int seen = wakings_;
      lock.unlock();
      const bool goes_on = work();
      lock.lock();
      if (goes_on) continue;
      changed_.wait_for(lock, poll_, [&] { return stopping_ || wakings_ != seen; });
    }
  }

  TicketStore& store_;
  Handovers& handovers_;
  Adoption& adoption_;
  const base::Milliseconds poll_;
  const bool adopts_;
  net::LastingTrouble adoption_trouble_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  int wakings_ = 0;
  base::ThreadGroup threads_;  // the last member: its threads use the others
};

}  // namespace

struct SupportDesk::Parts {
  Parts(store::Store& given, outbox::Mailer& mail, const SupportOptions& options, const base::Clock& clock,
        base::Random& random, store::Retry retry)
      : store(given, options.tables, clock, random, std::move(retry)),
        writer(store, mail),
        letters(options.letters, mail),
        tickets(store, writer, letters),
        lists(store),
        feedback(store, writer),
        events(store, writer),
        correspondence(store, writer, letters),
        attachments(store, writer, options.objects, options.attachments),
        cache(store),
        handovers(store, mail),
        adoption(store, writer, options.adoption_lease),
        upkeep(store, handovers, adoption, options) {}

  TicketStore store;
  TicketWriter writer;
  Letters letters;
  Tickets tickets;
  TicketLists lists;
  FeedbackRecords feedback;
  Events events;
  Correspondence correspondence;
  Attachments attachments;
  Cache cache;
  Handovers handovers;
  Adoption adoption;
  DeskUpkeep upkeep;
};

SupportDesk::SupportDesk(store::Store& store, outbox::Mailer& mail, const SupportOptions& options,
                         const base::Clock& clock, base::Random& random, store::Retry retry)
    : parts_(std::make_unique<Parts>(store, mail, options, clock, random, std::move(retry))) {}

SupportDesk::~SupportDesk() = default;

base::Result<void> SupportDesk::prepare(const std::function<bool()>& wait) { return parts_->store.prepare(wait); }
void SupportDesk::start() { parts_->upkeep.start(); }
void SupportDesk::stop() { parts_->upkeep.stop(); }
void SupportDesk::wake() {
  parts_->store.expect_handovers();
  parts_->upkeep.wake();
}

Tickets& SupportDesk::tickets() { return parts_->tickets; }
TicketLists& SupportDesk::lists() { return parts_->lists; }
FeedbackRecords& SupportDesk::feedback() { return parts_->feedback; }
Events& SupportDesk::events() { return parts_->events; }
Correspondence& SupportDesk::correspondence() { return parts_->correspondence; }
Attachments& SupportDesk::attachments() { return parts_->attachments; }
Cache& SupportDesk::cache() { return parts_->cache; }
Handovers& SupportDesk::handovers() { return parts_->handovers; }
Adoption& SupportDesk::adoption() { return parts_->adoption; }

}  // namespace postino::support
