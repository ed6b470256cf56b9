// Customers' answers that arrive by a queue: messages are taken from a broker and added to the tickets that they
// answer.
//
// A message is JSON as POST /tickets/answers takes it ({"headers": ..., "text": ...}), or an e-mail as it came, which
// is decoded. It is acknowledged when the answer is on record, durably. One that the broker gives out again is known by
// its Message-ID, and is not added twice. What answers no ticket, or cannot be read, is rejected, and what the broker
// does with it is set up there. In times of trouble messages are given back, and taken again later.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/this_thread.h"
#include "broker/broker.h"
#include "net/partner_health.h"
#include "net/trouble.h"
#include "support/correspondence.h"

namespace postino::support {

struct AnswerIntakeOptions {
  std::string connection;  // the broker's name, for the log
  std::string queue;
  std::string tenant;              // whose tickets they answer
  std::size_t batch = 25;          // messages taken at a time
  base::Milliseconds wait{1'000};  // for messages, before it looks whether it is to end
  base::Backoff pause{base::Milliseconds(500), base::Milliseconds(30'000)};
};

// What a message says; nullopt when it cannot be an answer.
std::optional<ReceivedMessage> read_answer(std::string_view body);

class AnswerIntake {
 public:
  // Everything given must outlive it.
  AnswerIntake(broker::Broker& broker, Correspondence& correspondence, const base::Clock& clock, base::Random& random,
               AnswerIntakeOptions options);
  ~AnswerIntake() { stop(); }
  AnswerIntake(const AnswerIntake&) = delete;
  AnswerIntake& operator=(const AnswerIntake&) = delete;

  void start();
  // Takes no more, and returns when what was taken is settled. It cannot be started again.
  void stop();
  // Takes messages once and settles them. False when it should be left alone for a while. What start() does all the
  // time.
  bool run_once();

  // Why no messages could be taken at the last attempt, if so. Answers at once.
  std::optional<std::string> problem() const { return health_.problem(); }
  void append_metrics(std::string& out) const;

 private:
  void run();
  broker::Disposition take(const broker::Message& message);

  broker::Broker& broker_;
  Correspondence& correspondence_;
  base::Random& random_;
  const AnswerIntakeOptions options_;
  net::PartnerHealth health_;
  net::RepeatedTrouble rejections_;
  base::Pause pause_;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::uint64_t> taken_ = 0;
  std::atomic<std::uint64_t> rejected_ = 0;
  std::thread thread_;
};

}  // namespace postino::support
