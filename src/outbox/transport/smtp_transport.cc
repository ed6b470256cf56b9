#include "outbox/transport/smtp_transport.h"

#include <algorithm>

#include "base/metrics_text.h"
#include "outbox/transport/trouble_log.h"

namespace postino::outbox {

namespace {

constexpr std::chrono::minutes longest_relay_pause{10};
constexpr int most_doubled_pauses = 10;

smtp::SendResult could_not_open(const smtp::Session::OpenFailure& failure, const smtp::Envelope& envelope) {
  smtp::SendResult result;
  result.severity = smtp::classify(failure.reply, failure.stage).severity;
  result.reply = failure.reply;
  result.session_failed = true;
  for (const std::string& address : envelope.recipients)
    result.recipients.push_back({address, result.severity, failure.reply});
  return result;
}

// A session that was kept may have ended by the time of its next message, which says nothing about the relay: the
// server has closed the connection, or says 421 instead of going on. A 421 to a whole message is about the relay.
bool has_ended(const smtp::SendResult& result, bool is_ending) {
  constexpr int closing = 421;
  if (!result.session_failed || result.outcome_unknown) return false;
  return result.reply.code == 0 || (result.reply.code == closing && !is_ending);
}

std::string address_of(const smtp::Options& relay) {
  const bool is_v6 = relay.host.find(':') != std::string::npos;
  return (is_v6 ? "[" + relay.host + "]" : relay.host) + ":" + std::to_string(relay.port);
}

}  // namespace

base::Result<std::unique_ptr<SmtpTransport>> SmtpTransport::create(SmtpTransportOptions options) {
  std::unique_ptr<SmtpTransport> transport(new SmtpTransport(std::move(options)));
  for (const smtp::Options& relay_options : transport->options_.relays) {
    auto relay = std::make_unique<Relay>(relay_options);
    if (transport->options_.relays.size() > 1)
      relay->options.greeting_timeout = std::min(relay_options.greeting_timeout, transport->options_.greeting_patience);
    if (const smtp::TlsPolicy policy = smtp::followed_policy(relay_options); policy != smtp::TlsPolicy::off) {
      net::ClientTlsOptions tls;
      tls.verify = policy != smtp::TlsPolicy::opportunistic;
      tls.certificate_file = relay_options.certificate_file;
      TRY(relay->tls, net::ClientTls::create(tls));
    }
    transport->relays_.push_back(std::move(relay));
  }
  return transport;
}

SmtpTransport::Relay::Relay(const smtp::Options& relay_options)
    : options(relay_options), health("outbox", "the mail server", address_of(relay_options)) {}

SmtpTransport::~SmtpTransport() {
  for (const auto& relay : relays_)
    for (Session& session : relay->idle) session.smtp->quit();
}

SmtpTransport::Turn SmtpTransport::turn_at(Relay& relay) const {
  std::unique_lock lock(relay.mutex);
  if (relay.is_up || relays_.size() == 1) return Turn::usual;
  // It has not failed so far: that will be known soon, and it comes before the next one.
  if (relay.is_probed && relay.failures == 0) {
    relay.probed.wait_for(lock, options_.news_patience, [&] { return !relay.is_probed || relay.is_up; });
    if (relay.is_up) return Turn::usual;
  }
  if (relay.is_probed || Steady::now() < relay.paused_until) return Turn::later;
  relay.is_probed = true;
  return Turn::probe;
}

void SmtpTransport::note_up(Relay& relay) const {
  const std::lock_guard lock(relay.mutex);
  if (relay.failures > 0) return;  // whether it takes messages is not known yet
  relay.is_up = true;
  relay.probed.notify_all();
}

void SmtpTransport::note_result(Relay& relay, Turn turn, bool failed) const {
  const auto now = Steady::now();
  const std::lock_guard lock(relay.mutex);
  if (turn == Turn::probe) relay.is_probed = false;
  relay.probed.notify_all();
  if (!failed) {
    relay.is_up = true;
    relay.failures = 0;
    return;
  }
  // Many callers may find out at once: that is one failure.
  if (!relay.is_up && turn != Turn::probe && now < relay.paused_until) return;
  relay.is_up = false;
  const auto pause = options_.relay_pause * (1 << std::min(relay.failures++, most_doubled_pauses));
  relay.paused_until =
      now + std::max(options_.relay_pause, std::min<std::chrono::milliseconds>(pause, longest_relay_pause));
}

std::optional<SmtpTransport::Session> SmtpTransport::take_idle(Relay& relay) {
  while (true) {
    Session session;
    {
      const std::lock_guard lock(relay.mutex);
      if (relay.idle.empty()) return std::nullopt;
      session = std::move(relay.idle.back());
      relay.idle.pop_back();
    }
    if (session.smtp->usable()) return session;
  }
}

void SmtpTransport::give_back(Relay& relay, Session session) {
  if (!session.smtp->usable()) return;
  if (++session.messages >= options_.messages_per_session) return session.smtp->quit();
  session.idle_since = Steady::now();
  const std::lock_guard lock(relay.mutex);
  relay.idle.push_back(std::move(session));
}

void SmtpTransport::close_idle_sessions() {
  const auto oldest = Steady::now() - options_.idle_time;
  for (const auto& relay : relays_) {
    std::vector<Session> idle;
    {
      const std::lock_guard lock(relay->mutex);
      const auto first_young =
          std::ranges::find_if(relay->idle, [&](const Session& session) { return session.idle_since >= oldest; });
      std::move(relay->idle.begin(), first_young, std::back_inserter(idle));
      relay->idle.erase(relay->idle.begin(), first_young);
    }
    for (Session& session : idle) session.smtp->quit();
  }
}

smtp::SendResult SmtpTransport::deliver_over(Relay& relay, const Delivery& delivery,
                                             const smtp::Session::BeforeEnd& before_end) {
  while (auto session = take_idle(relay)) {
    bool is_ending = false;  // the message is on its way, but for its end
    const auto note_end = [&]() -> base::Result<void> {
      is_ending = true;
      return before_end ? before_end() : base::Result<void>();
    };
    smtp::SendResult result = session->smtp->send(delivery.envelope, delivery.message, note_end);
    if (has_ended(result, is_ending)) continue;
    give_back(relay, std::move(*session));
    return result;
  }
  auto opened = smtp::Session::open(relay.options, relay.tls);
  if (!opened) return could_not_open(opened.error(), delivery.envelope);
  note_up(relay);
  Session session{std::move(*opened), 0, {}};
  smtp::SendResult result = session.smtp->send(delivery.envelope, delivery.message, before_end);
  give_back(relay, std::move(session));
  return result;
}

// What this process breaks off because it ends says nothing about the relay.
void SmtpTransport::note(Relay& relay, const smtp::SendResult& result) {
  const auto& shutdown_deadline = relay.options.shutdown_deadline;
  if (!result.session_failed)
    relay.health.works();
  else if (shutdown_deadline == nullptr || !shutdown_deadline->is_over())
    relay.health.fails(without_addresses(result.reply.text), Steady::now());
}

std::vector<std::string> SmtpTransport::problems() const {
  std::vector<std::string> found;
  for (const auto& relay : relays_)
    if (auto problem = relay->health.problem()) found.push_back(*std::move(problem));
  return found;
}

void SmtpTransport::append_metrics(std::string& out) const {
  base::append_metric_head(out, "postino_smtp_relay_up", "gauge",
                           "1 if the mail server could be used at the last attempt, or has not been asked yet.");
  for (const auto& relay : relays_)
    out.append("postino_smtp_relay_up{relay=\"")
        .append(relay->health.name())
        .append(relay->health.is_up() ? "\"} 1\n" : "\"} 0\n");
}

SmtpTransport::Outcome SmtpTransport::try_relay(Relay& relay, Turn turn, const Delivery& delivery,
                                                const smtp::Session::BeforeEnd& before_end, smtp::SendResult& result) {
  result = deliver_over(relay, delivery, before_end);
  note(relay, result);
  const bool failed = result.session_failed && !result.outcome_unknown;
  note_result(relay, turn, failed);
  if (failed) return Outcome::failed;
  return result.is_server_unfit ? Outcome::unfit : Outcome::done;
}

smtp::SendResult SmtpTransport::deliver(const Delivery& delivery, const smtp::Session::BeforeEnd& before_end) {
  if (relays_.size() == 1) {
    smtp::SendResult result;
    try_relay(*relays_.front(), turn_at(*relays_.front()), delivery, before_end, result);
    return result;
  }
  Delivery whole = delivery;
  whole.envelope.only_whole = true;
  std::optional<smtp::SendResult> failure;  // of one that may be fit
  Relay* unfit = nullptr;
  // True when that was it.
  smtp::SendResult result;
  const auto is_done = [&](Relay& relay, Turn turn) {
    const Outcome outcome = try_relay(relay, turn, whole, before_end, result);
    if (outcome == Outcome::failed) failure = result;
    if (outcome == Outcome::unfit && unfit == nullptr) unfit = &relay;
    return outcome == Outcome::done;
  };
  std::vector<Relay*> last;
  for (const auto& relay : relays_) {
    const Turn turn = turn_at(*relay);
    if (turn == Turn::later)
      last.push_back(relay.get());
    else if (is_done(*relay, turn))
      return result;
  }
  for (Relay* relay : last)
    if (is_done(*relay, Turn::later)) return result;
  if (failure) return *std::move(failure);
  // None can take it for all.
  try_relay(*unfit, Turn::usual, delivery, before_end, result);
  return result;
}

}  // namespace postino::outbox
