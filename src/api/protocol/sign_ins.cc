#include "api/protocol/sign_ins.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/log.h"
#include "base/metrics_text.h"
#include "net/address.h"

namespace postino::api {

namespace {

// Counts a caller that is in a place, for as long as this lives.
class Occupancy {
 public:
  Occupancy(std::atomic<int>& present, int most) : present_(present), is_admitted_(++present <= most) {}
  ~Occupancy() { --present_; }
  Occupancy(const Occupancy&) = delete;
  Occupancy& operator=(const Occupancy&) = delete;
  bool is_admitted() const { return is_admitted_; }

 private:
  std::atomic<int>& present_;
  const bool is_admitted_;
};

template <class T>
base::Result<T, Problem> answered_by_sessions(store::Answer<T> answer) {
  if (answer) return *std::move(answer);
  auto refusal = refuse(problems::store_unavailable, "Sessions cannot be read or written now.");
  refusal.value().cause = std::move(answer.error().message);
  return refusal;
}

tl::unexpected<Problem> refuse_without_users() {
  return refuse(problems::no_sessions, "The server has neither users nor API keys, so that no caller needs a session.");
}

// Of a name that does not exist nothing is logged: some people type their password there.
constexpr const char* unknown_name = "(unknown)";

constexpr std::string_view sign_in_action = "signIn";

}  // namespace

base::Result<SignIns::SignedIn, Problem> SignIns::with_password(const std::string& user, const std::string& password,
                                                                const std::string& from) {
  const auto access = access_.get();
  if (access->is_open()) return refuse_without_users();
  const Occupancy occupancy(present_, most_present);
  if (!occupancy.is_admitted()) return refuse_crowd(from);
  const User* const known = access->find_user(user);
  const std::string logged = known == nullptr ? unknown_name : known->caller.name;
  const std::string network = net::network_of(from);
  if (const auto wait = limits_.begin(user, network)) return refuse_slowed(*wait, logged, from);
  if (!is_right(*access, known, user, password)) return refuse_wrong(logged, from);
  limits_.succeeded(user, network);
  return begin_session(known->caller, credential_mark(*known), from);
}

// For a user who does not exist the hash of another one is computed: hashes may differ in what they cost.
bool SignIns::is_right(const Access& access, const User* user, const std::string& name, const std::string& password) {
  hashing_.acquire();
  bool matches = false;
  if (const std::vector<User>& users = access.users(); user != nullptr) {
    matches = is_password_(password, user->password_hash);
  } else if (users.empty()) {
    access::compare_with_none(password);
  } else {
    const std::size_t any = std::hash<std::string>()(name) % users.size();
    static_cast<void>(is_password_(password, users[any].password_hash));
  }
  hashing_.release();
  return matches;
}

// A secret cannot be guessed, and no other caller is to be kept out by failures of one: each secret has a name of its
// own for the limits.
base::Result<SignIns::SignedIn, Problem> SignIns::with_key(const std::string& secret, const std::string& from) {
  const auto access = access_.get();
  if (access->is_open()) return refuse_without_users();
  const std::string name = "key " + base::to_hex(base::sha256(secret));
  const std::string network = net::network_of(from);
  const ApiKey* const key = access->find_key(secret);
  const std::string logged = key == nullptr ? unknown_name : key->caller.name;
  if (const auto wait = limits_.begin(name, network)) return refuse_slowed(*wait, logged, from);
  if (key == nullptr) return refuse_wrong(logged, from);
  limits_.succeeded(name, network);
  return begin_session(key->caller, credential_mark(*key), from);
}

base::Result<SignIns::SignedIn, Problem> SignIns::begin_session(const Caller& caller, std::string credential,
                                                                const std::string& from) {
  access::Session wanted = session_of(caller);
  wanted.credential = std::move(credential);
  wanted.from = from;
  TRY(access::Sessions::Created created, answered_by_sessions(sessions_.create(std::move(wanted))));
  // The settings may have been read again in between, and the sessions of those who went are ended already.
  const auto is_holder = [&created](const access::Session& holder) {
    return access::have_same_holder(holder, created.session);
  };
  if (!std::ranges::any_of(access_.get()->holders(), is_holder)) {
    sessions_.forget(created.session);
    return refuse_wrong(caller.name, from);
  }
  if (audit_ != nullptr) {
    const auto recorded =
        audit_->record({.actor = caller.name,
                        .kind = caller.is_user ? access::AuditEvent::user : access::AuditEvent::api_key,
                        .tenant = caller.tenant,
                        .from = from,
                        .action = std::string(sign_in_action),
                        .subject = created.session.id});
    if (!recorded) {
      sessions_.forget(created.session);
      auto refusal =
          refuse(problems::store_unavailable, "The audit cannot be written now. Nobody signs in without it.");
      refusal.value().cause = recorded.error().message;
      return refusal;
    }
  }
  ++succeeded_;
  base::log_info("access", "signed in", {{"name", caller.name}, {"from", from}, {"session", created.session.id}});
  return SignedIn{std::move(created.session), std::move(created.token), caller};
}

tl::unexpected<Problem> SignIns::refuse_wrong(const std::string& name, const std::string& from) {
  ++failed_;
  base::log_warning("access", "sign-in failed", {{"name", name}, {"from", from}});
  if (audit_ != nullptr)
    audit_->note(
        {.actor = name, .from = from, .action = std::string(sign_in_action), .result = access::AuditEvent::refused});
  return refuse(problems::sign_in_refused, "Check the name and the password, or the API key.");
}

bool SignIns::LinePause::is_over(const base::Clock& clock) {
  constexpr base::Milliseconds pause = std::chrono::minutes(1);
  const std::int64_t now = clock.monotonic().count();
  std::int64_t end = end_.load();
  return now >= end && end_.compare_exchange_strong(end, now + pause.count());
}

tl::unexpected<Problem> SignIns::refuse_slowed(base::Milliseconds wait, const std::string& name,
                                               const std::string& from) {
  ++slowed_;
  // Their failures have lines already.
  if (slowed_line_.is_over(clock_))
    base::log_warning("access", "sign-ins are slowed down", {{"name", name}, {"from", from}});
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait).count();
  auto refusal = refuse(problems::too_many_sign_ins, "Try again in " + std::to_string(seconds) + " seconds.");
  refusal.value().headers = {{"Retry-After", std::to_string(seconds)}};
  return refusal;
}

tl::unexpected<Problem> SignIns::refuse_crowd(const std::string& from) {
  ++overloaded_;
  if (crowd_line_.is_over(clock_))
    base::log_warning("access", "sign-ins are refused, because too many callers sign in at a time", {{"from", from}});
  auto refusal = refuse(problems::overloaded, "Too many callers sign in. Try again in a moment.");
  refusal.value().is_told = true;
  return refusal;
}

// The last address is the one that the proxy has seen; those before it are what its client says.
std::string SignIns::address_of(const http::Request& request) const {
  const std::string peer(request.peer);
  if (std::ranges::find(proxies_, peer) == proxies_.end()) return peer;
  std::string_view last = request.header("x-forwarded-for");
  last.remove_prefix(std::min(last.find_last_of(", ") + 1, last.size()));
  const std::string address(last);
  return net::is_ip_address(address) ? net::usual_form(address) : peer;
}

std::vector<Caller> SignIns::visible(std::string_view name, const Caller& to) const {
  std::vector<Caller> found;
  for (const Caller& each : access_.get()->named(name)) {
    if (!to.tenant.empty() && each.tenant != to.tenant) continue;
    // API keys that differ in their secret alone share their sessions.
    const auto has_the_same = [&each](const Caller& other) {
      return other.is_user == each.is_user && other.tenant == each.tenant && other.customer == each.customer;
    };
    if (std::ranges::none_of(found, has_the_same)) found.push_back(each);
  }
  return found;
}

base::Result<std::vector<access::Session>, Problem> SignIns::list(const Caller& whose) {
  return answered_by_sessions(sessions_.list(session_of(whose)));
}

base::Result<bool, Problem> SignIns::revoke(const Caller& whose, const std::string& id) {
  TRY(const bool revoked, answered_by_sessions(sessions_.revoke(session_of(whose), id)));
  if (revoked) base::log_info("access", "session ended", {{"name", whose.name}, {"session", id}});
  return revoked;
}

base::Result<int, Problem> SignIns::revoke_all(const Caller& whose) {
  TRY(const int count, answered_by_sessions(sessions_.revoke_all(session_of(whose))));
  if (count > 0)
    base::log_info("access", "all sessions ended", {{"name", whose.name}, {"count", std::to_string(count)}});
  return count;
}

void SignIns::append_metrics(std::string& out) const {
  constexpr std::string_view name = "postino_sign_ins_total";
  base::append_metric_head(out, name, "counter", "Sign-ins with a password or an API key, by what came of them.");
  for (const auto& [outcome, count] :
       {std::pair("succeeded", succeeded_.load()), std::pair("failed", failed_.load()),
        std::pair("slowed", slowed_.load()), std::pair("overloaded", overloaded_.load())})
    out.append(name).append("{outcome=\"").append(outcome).append("\"} ").append(std::to_string(count)).append("\n");
}

}  // namespace postino::api
