// Delivers over SMTP: relays in the order they are configured, each with sessions that are used again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "net/partner_health.h"
#include "outbox/transport/transport.h"

namespace postino::outbox {

struct SmtpTransportOptions {
  std::vector<smtp::Options> relays;              // at least one
  int messages_per_session = 1'000;               // then a new one is opened
  std::chrono::milliseconds idle_time{5'000};     // that a session is kept without work
  std::chrono::milliseconds relay_pause{10'000};  // a relay that failed is tried last for so long; doubles each time
  // Where there are several relays. A relay that does not greet by then has failed. A sender that finds another one
  // busy with the first connection to it waits so long for the news, before it asks the next relay.
  std::chrono::milliseconds greeting_patience{15'000};
  std::chrono::milliseconds news_patience{2'000};
};

class SmtpTransport final : public Transport {
 public:
  // Fails when the authorities to trust cannot be read.
  static base::Result<std::unique_ptr<SmtpTransport>> create(SmtpTransportOptions options);
  ~SmtpTransport() override;

  // A relay that cannot take any message now does not stop it: the next one is asked. A relay that failed is probed by
  // one caller at a time after its pause, and by all only when no other relay takes the message. What was begun with a
  // relay and may have arrived is not begun again with another.
  smtp::SendResult deliver(const Delivery& delivery, const smtp::Session::BeforeEnd& before_end) override;

  // Says goodbye in sessions that had no work for a while. To be called now and then.
  void close_idle_sessions();

  // Of relays that could not be used at the last attempt. Answers at once.
  std::vector<std::string> problems() const;
  // In Prometheus' text format.
  void append_metrics(std::string& out) const;

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
    net::PartnerHealth health;
    std::shared_ptr<net::ClientTls> tls;
    std::mutex mutex;
    std::vector<Session> idle;  // the last used last
    bool is_up = false;         // it has greeted, or taken messages, since it failed last
    bool is_probed = false;     // a caller is finding out
    std::condition_variable probed;
    int failures = 0;  // in a row
    Steady::time_point paused_until;
  };
  // May a caller ask this relay, or shall it ask another one first?
  enum class Turn { usual, probe, later };

  explicit SmtpTransport(SmtpTransportOptions options) : options_(std::move(options)) {}
  static void note(Relay& relay, const smtp::SendResult& result);
  Turn turn_at(Relay& relay) const;
  void note_up(Relay& relay) const;
  void note_result(Relay& relay, Turn turn, bool failed) const;
  enum class Outcome { done, failed, unfit };
  Outcome try_relay(Relay& relay, Turn turn, const Delivery& delivery, const smtp::Session::BeforeEnd& before_end,
                    smtp::SendResult& result);
  std::optional<Session> take_idle(Relay& relay);
  void give_back(Relay& relay, Session session);
  smtp::SendResult deliver_over(Relay& relay, const Delivery& delivery, const smtp::Session::BeforeEnd& before_end);

  const SmtpTransportOptions options_;
  std::vector<std::unique_ptr<Relay>> relays_;
};

}  // namespace postino::outbox
