// E-mails that arrive by a queue: messages are taken from a broker and handed to the outbox.
//
// A message is a payload as POST /emails takes it, or {"data": [payload, ...]}. It is acknowledged when its e-mails are
// accepted, durably, and its id stands for it: one that the broker gives out again is not accepted twice. (One without
// an id may be.) What can never be accepted is rejected, and what the broker does with it is set up there. So is a
// message with other contents under a known id, its own or an e-mail's. In times of trouble messages are given back,
// and taken again later.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/this_thread.h"
#include "broker/broker.h"
#include "net/partner_health.h"
#include "net/trouble.h"
#include "outbox/outbox.h"

namespace postino::outbox {

struct QueueIntakeOptions {
  std::string connection;  // the broker's name; part of what a message is known by
  std::string queue;
  std::string tenant;              // whose e-mails they are
  int workers = 1;                 // that take messages; with more than one their order is lost
  std::size_t batch = 25;          // messages taken at a time
  std::size_t max_emails = 100;    // in one message
  base::Milliseconds wait{1'000};  // for messages, before it looks whether it is to end
  base::Milliseconds key_life = std::chrono::hours(24 * 7);  // how long a message id is remembered
  base::Backoff pause{base::Milliseconds(500), base::Milliseconds(30'000)};
};

class QueueIntake {
 public:
  // Everything given must outlive it.
  QueueIntake(broker::Broker& broker, Outbox& outbox, const base::Clock& clock, base::Random& random,
              QueueIntakeOptions options);
  ~QueueIntake() { stop(); }
  QueueIntake(const QueueIntake&) = delete;
  QueueIntake& operator=(const QueueIntake&) = delete;

  void start();
  // Takes no more, and returns when what was taken is settled. It cannot be started again.
  void stop();

  // Takes messages once and settles them. False when it should be left alone for a while. What start() does all the
  // time.
  bool run_once();

  // Why no messages could be taken at the last attempt, if so. Answers at once.
  std::optional<std::string> problem() const { return health_.problem(); }

  // Those of all there are, in Prometheus' text format.
  static void append_metrics(const std::vector<const QueueIntake*>& intakes, std::string& out);

 private:
  enum class Result : std::uint8_t {
    accepted,
    repeated,     // had been accepted before
    rejected,     // can never be
    released,     // cannot be now
    conflicting,  // has a known id and other contents: set aside like a rejected one
  };
  static constexpr std::size_t result_count = 5;

  // An e-mail that came with an id of its own.
  struct Identified {
    std::size_t index = 0;  // in its message
    std::string id;
    std::string hash;  // of its contents
  };
  enum class Known : std::uint8_t { same, other, absent, not_now };

  void run();
  Result take(const broker::Message& message);
  // Nothing, and a note in the log, when it is no e-mail.
  std::optional<std::vector<Payload>> read(const broker::Message& message) const;
  Result accept(const broker::Message& message, std::vector<Payload> payloads);
  Result judge(const broker::Message& message, const AcceptAnswer& answer, const std::vector<Identified>& identified);
  Result judge_outcomes(const broker::Message& message, const AcceptAnswer& answer,
                        const std::vector<Identified>& identified);
  // One that was answered before. Those of its e-mails that were known by then may have had other contents.
  Result judge_repeat(const broker::Message& message, const std::vector<Identified>& identified);
  Result refuse_conflict(const broker::Message& message, const Identified& email) const;
  // What is known under the e-mail's id.
  Known find(const Identified& email);
  std::string labels() const;
  // `kind` of reasons that are told one for many; empty: the reason itself.
  void log_rejected(const broker::Message& message, const std::string& why, const std::string& kind = {}) const;

  broker::Broker& broker_;
  Outbox& outbox_;
  const base::Clock& clock_;
  base::Random& random_;
  const QueueIntakeOptions options_;
  net::PartnerHealth health_;
  mutable net::RepeatedTrouble rejections_;
  base::Pause pause_;
  std::atomic<bool> stopping_ = false;
  std::array<std::atomic<std::uint64_t>, result_count> messages_{};
  std::atomic<std::uint64_t> emails_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace postino::outbox
