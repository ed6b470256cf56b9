// Delivers over SMTP: relays in the order they are configured, each with sessions that are used again.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include "outbox/transport/transport.h"
#include "outbox/transport/trouble_log.h"

namespace postino::outbox {

struct SmtpTransportOptions {
  std::vector<smtp::Options> relays;              // at least one
  int messages_per_session = 1'000;               // then a new one is opened
  std::chrono::milliseconds idle_time{5'000};     // that a session is kept without work
  std::chrono::milliseconds relay_pause{10'000};  // a relay that failed is tried last for so long
};

class SmtpTransport final : public Transport {
 public:
  // Fails when the authorities to trust cannot be read.
  static base::Result<std::unique_ptr<SmtpTransport>> create(SmtpTransportOptions options);
  ~SmtpTransport() override;

  // A relay that cannot take any message now does not stop it: the next one is asked. What was begun with a relay and
  // may have arrived is not begun again with another.
  smtp::SendResult deliver(const Delivery& delivery, const smtp::Session::BeforeEnd& before_end) override;

  // Says goodbye in sessions that had no work for a while. To be called now and then.
  void close_idle_sessions();

  // Of relays that could not be used at the last attempt. Answers at once.
  std::vector<std::string> problems() const;
  // In Prometheus' text format.
  void append_metrics(std::string& out) const;

  std::uint64_t sessions_opened() const { return sessions_opened_; }

 private:
  using Steady = std::chrono::steady_clock;
  struct Session {
    std::unique_ptr<smtp::Session> smtp;
    int messages = 0;
    Steady::time_point idle_since;
  };
  struct Relay {
    explicit Relay(const smtp::Options& relay_options);

    smtp::Options options;
    PartnerHealth health;
    std::shared_ptr<net::ClientTls> tls;
    std::mutex mutex;
    std::vector<Session> idle;  // the last used last
    std::atomic<Steady::rep> paused_until = 0;
  };

  explicit SmtpTransport(SmtpTransportOptions options) : options_(std::move(options)) {}
  std::vector<Relay*> relays_to_try();
  static void note(Relay& relay, const smtp::SendResult& result);
  std::optional<Session> take_idle(Relay& relay);
  void give_back(Relay& relay, Session session);
  smtp::SendResult deliver_over(Relay& relay, const Delivery& delivery, const smtp::Session::BeforeEnd& before_end);

  const SmtpTransportOptions options_;
  std::vector<std::unique_ptr<Relay>> relays_;
  std::atomic<std::uint64_t> sessions_opened_ = 0;
};

}  // namespace postino::outbox
