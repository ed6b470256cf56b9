#include "broker/connection/connection.h"

#include <proton/condition.h>
#include <proton/connection.h>
#include <proton/event.h>
#include <proton/link.h>
#include <proton/logger.h>
#include <proton/proactor.h>
#include <proton/sasl.h>
#include <proton/session.h>
#include <proton/ssl.h>
#include <proton/transport.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "broker/connection/link.h"
#include "broker/protocol/remote_text.h"

namespace postino::broker {

namespace {

constexpr std::uint32_t frame_bytes = 128 << 10;
constexpr std::chrono::seconds goodbye_time{5};

FailureKind kind_of(std::string_view condition, FailureKind otherwise) {
  struct Meaning {
    std::string_view condition;
    FailureKind kind;
  };
  constexpr Meaning meanings[] = {
      {"amqp:not-found", FailureKind::no_such_queue},
      {"amqp:unauthorized-access", FailureKind::refused},
      {"amqp:not-allowed", FailureKind::refused},
      {"amqp:precondition-failed", FailureKind::refused},
      {"amqp:resource-locked", FailureKind::refused},
      {"amqp:invalid-field", FailureKind::refused},
      {"amqp:not-implemented", FailureKind::unsupported},
      {"amqp:link:message-size-exceeded", FailureKind::rejected},
      {"amqp:resource-limit-exceeded", FailureKind::rejected},
  };
  const auto* found = std::ranges::find(meanings, condition, &Meaning::condition);
  return found == std::end(meanings) ? otherwise : found->kind;
}

}  // namespace

Failure to_failure(pn_condition_t* condition, FailureKind otherwise, std::string_view what) {
  if (condition == nullptr || !pn_condition_is_set(condition)) return {otherwise, std::string(what), {}};
  const char* const name = pn_condition_get_name(condition);
  const char* const description = pn_condition_get_description(condition);
  std::string message(what);
  if (description != nullptr && *description != '\0') message += ": " + clean_text(description);
  if (name != nullptr) message += " (" + clean_text(name) + ")";
  return {kind_of(name == nullptr ? "" : name, otherwise), std::move(message), {}};
}

Connection::Connection(OpenParameters parameters) : parameters_(std::move(parameters)) {}
Connection::~Connection() = default;

Result<void> Connection::await(Deadline deadline, const std::function<bool()>& ready, std::string_view what) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [&] { return failure_ || ready(); });
  if (ready()) return {};
  if (failure_) return tl::unexpected(*failure_);
  return refuse(FailureKind::timed_out, std::string(what) + ": no answer from " + endpoint() + " in time");
}

Result<void> Connection::await_open(Deadline deadline) {
  return await(
      deadline, [&] { return state_ == State::open; }, "opening the connection");
}

bool Connection::is_usable() const {
  return locked([&] { return state_ == State::open && !failure_; });
}

void Connection::wake() {
  if (started_ && state_ != State::over) pn_connection_wake(connection_);
}

void Connection::post(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  if (state_ != State::open) return;
  tasks_.push_back(std::move(task));
  wake();
}

void Connection::wake_links() {
  const std::lock_guard lock(mutex_);
  wake();
}

void Connection::open_link(const std::shared_ptr<Link>& link) {
  post([this, link] {
    links_.push_back(link);
    link->start(session_);
  });
}

void Connection::forget(const Link* link) {
  std::erase_if(links_, [&](const auto& kept) { return kept.get() == link; });
}

void Connection::close() {
  const std::lock_guard lock(mutex_);
  if (state_ == State::connecting) must_abort_ = true;
  if (state_ == State::open) {
    state_ = State::closing;
    closing_ends_ = std::chrono::steady_clock::now() + goodbye_time;
  }
  wake();
}

void Connection::end(Deadline deadline) {
  close();
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [&] { return state_ == State::over; });
}

void Connection::abort() {
  const std::lock_guard lock(mutex_);
  must_abort_ = true;
  if (state_ == State::open) state_ = State::closing;
  wake();
}

void Connection::hurry(Deadline now) {
  const std::lock_guard lock(mutex_);
  if (state_ != State::closing || now < closing_ends_) return;
  must_abort_ = true;
  wake();
}

// Proton's complaints about TLS say more than the error that follows. Nothing else is kept, because frames on their way
// hold passwords.
void Connection::keep_log(std::intptr_t connection, const char* message) {
  auto& log = reinterpret_cast<Connection*>(connection)->log_;
  if (log.size() < 500) log += (log.empty() ? "" : "; ") + clean_text(message);
}

bool Connection::set_up() {
  connection_ = pn_connection();
  transport_ = pn_transport();
  pn_logger_t* const logger = pn_transport_logger(transport_);
  pn_logger_reset_mask(logger, PN_SUBSYSTEM_ALL, PN_LEVEL_ALL);
  pn_logger_set_mask(logger, PN_SUBSYSTEM_SSL, PN_LEVEL_ERROR);
  pn_logger_set_log_sink(
      logger,
      [](std::intptr_t context, pn_log_subsystem_t, pn_log_level_t, const char* text) { keep_log(context, text); },
      reinterpret_cast<std::intptr_t>(this));

  pn_connection_set_context(connection_, this);
  pn_connection_set_container(connection_, "postino");
  pn_connection_set_hostname(connection_, parameters_.virtual_host.c_str());
  if (!parameters_.user.empty()) pn_connection_set_user(connection_, parameters_.user.c_str());
  if (parameters_.mechanism == "PLAIN") pn_connection_set_password(connection_, parameters_.password.c_str());
  pn_sasl_t* const sasl = pn_sasl(transport_);
  pn_sasl_allowed_mechs(sasl, parameters_.mechanism.c_str());
  pn_sasl_set_allow_insecure_mechs(sasl, true);  // who gets a password was decided before
  pn_transport_set_idle_timeout(transport_, static_cast<pn_millis_t>(parameters_.idle_timeout.count()));
  pn_transport_set_max_frame(transport_, frame_bytes);
  if (!parameters_.tls || parameters_.tls->protect(transport_, parameters_.server_name)) return true;
  pn_connection_free(connection_);
  pn_transport_free(transport_);
  return false;
}

bool Connection::start(pn_proactor_t* proactor) {
  {
    const std::lock_guard lock(mutex_);
    // The caller that wanted it may have given up already.
    if (must_abort_ || !set_up()) {
      failure_ = Failure{FailureKind::exhausted, "the connection cannot be set up", {}};
      state_ = State::over;
      changed_.notify_all();
      return false;
    }
    started_ = true;
  }
  pn_proactor_connect2(proactor, connection_, transport_, parameters_.address.c_str());
  // A wake before that had no connection to act on.
  const std::lock_guard lock(mutex_);
  if (must_abort_ && state_ != State::over) pn_connection_wake(connection_);
  return true;
}

void Connection::fail(Failure failure) {
  if (!failure_) failure_ = std::move(failure);
  changed_in_batch_ = true;
}

void Connection::finish_batch() {
  if (!std::exchange(changed_in_batch_, false)) return;
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

void Connection::on_wake() {
  if (must_abort_) {
    pn_transport_close_tail(transport_);
    pn_transport_close_head(transport_);
    return;
  }
  for (const auto& task : std::exchange(tasks_, {})) task();
  for (const auto& link : std::vector(links_)) link->on_wake();
  if (state_ == State::closing) pn_connection_close(connection_);
}

// False when the broker did not agree to what we want.
bool Connection::read_tls() {
  std::array<char, 100> text{};
  pn_ssl_t* const ssl = pn_ssl(transport_);
  if (pn_ssl_get_protocol_name(ssl, text.data(), text.size())) peer_.tls_protocol = text.data();
  if (pn_ssl_get_cipher_name(ssl, text.data(), text.size())) peer_.tls_cipher = text.data();
  const std::string& wanted = parameters_.tls->cipher();
  if (wanted.empty() || peer_.tls_cipher == wanted) return true;
  fail({FailureKind::unreachable, "the broker chose the cipher suite " + peer_.tls_cipher + ", not " + wanted, {}});
  return false;
}

void Connection::on_remote_open() {
  peer_ = read_peer(connection_, transport_);
  peer_.host = parameters_.host;
  if (parameters_.tls && !read_tls()) {
    pn_connection_close(connection_);
    return;
  }
  session_ = pn_session(connection_);
  pn_session_open(session_);
}

// Only now are we let in: RabbitMQ looks at permissions when the first session begins.
void Connection::on_session_open() {
  if (state_ == State::connecting) state_ = State::open;
  changed_in_batch_ = true;
}

Failure Connection::transport_failure() const {
  pn_condition_t* const condition = pn_transport_condition(transport_);
  const FailureKind kind = state_ == State::connecting ? FailureKind::unreachable : FailureKind::lost;
  Failure failure = to_failure(condition, kind, "the connection to " + endpoint() + " broke");
  // Errors of the transport are its own, and what they are called means nothing; except that we were not let in.
  const char* const name = pn_condition_get_name(condition);
  if (name == nullptr || std::string_view(name) != "amqp:unauthorized-access") failure.kind = kind;
  if (!log_.empty()) failure.message += ": " + log_;
  return failure;
}

void Connection::on_over() {
  fail(transport_failure());
  state_ = State::over;
  for (const auto& link : links_) link->on_over();
  links_.clear();
  tasks_.clear();
  pn_logger_set_log_sink(
      pn_transport_logger(transport_), [](std::intptr_t, pn_log_subsystem_t, pn_log_level_t, const char*) {}, 0);
}

void Connection::on_remote_end(pn_condition_t* condition, const char* what) {
  const bool begins = state_ == State::connecting;
  Failure failure = to_failure(condition, begins ? FailureKind::unreachable : FailureKind::lost,
                               "the broker at " + endpoint() + " ended the " + what);
  if (begins && failure.kind == FailureKind::no_such_queue) failure.kind = FailureKind::refused;
  fail(std::move(failure));
  pn_connection_close(connection_);
}

void Connection::on_link_event(pn_event_t* event) {
  pn_link_t* const proton_link = pn_event_link(event);
  auto* const found = proton_link == nullptr ? nullptr : static_cast<Link*>(pn_link_get_context(proton_link));
  if (found == nullptr) return;
  const std::shared_ptr<Link> link = found->shared_from_this();
  link->handle(event);
}

bool Connection::handle(pn_event_t* event) {
  const std::lock_guard lock(mutex_);
  switch (pn_event_type(event)) {
    case PN_CONNECTION_WAKE:
      on_wake();
      break;
    case PN_CONNECTION_REMOTE_OPEN:
      on_remote_open();
      break;
    case PN_SESSION_REMOTE_OPEN:
      on_session_open();
      break;
    case PN_CONNECTION_REMOTE_CLOSE:
      on_remote_end(pn_connection_remote_condition(connection_), "connection");
      break;
    case PN_SESSION_REMOTE_CLOSE:
      on_remote_end(pn_session_remote_condition(pn_event_session(event)), "session");
      break;
    case PN_LINK_REMOTE_OPEN:
    case PN_LINK_REMOTE_CLOSE:
    case PN_LINK_REMOTE_DETACH:
    case PN_LINK_FLOW:
    case PN_DELIVERY:
      on_link_event(event);
      break;
    case PN_TRANSPORT_CLOSED:
      on_over();
      return true;
    default:
      break;
  }
  return false;
}

}  // namespace postino::broker
