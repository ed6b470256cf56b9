// People and programs sign in: with a password or an API key they get a session, whose token counts like an API key.
//
// An answer tells neither by its words nor by its time whether a user exists. Guessing is slowed down
// (access/sign_in_limits.h). Few passwords are hashed at a time, because each takes much memory and a processor.
#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <semaphore>
#include <string>
#include <vector>

#include "access/audit.h"
#include "access/password.h"
#include "access/sessions.h"
#include "access/sign_in_limits.h"
#include "api/protocol/access.h"
#include "base/clock.h"
#include "base/swappable.h"

namespace postino::api {

struct SignInOptions {
  access::SignInRules rules = {};
  std::vector<std::string> proxies = {};  // addresses whose X-Forwarded-For is believed
  std::function<bool(std::string_view password, const std::string& hash)> is_password = access::is_password;
};

// Safe to use from any thread.
class SignIns {
 public:
  static constexpr int most_hashing = 2;
  static constexpr int most_present = 6;  // that hash or wait for it: each keeps a thread

  // Everything given must outlive it. Who may sign in is asked of `access` each time, because settings are read again.
  // Without an audit, sign-ins are told in the log alone.
  SignIns(const base::Swappable<Access>& access, access::Sessions& sessions, const base::Clock& clock,
          SignInOptions options, access::Audit* audit = nullptr)
      : access_(access),
        sessions_(sessions),
        clock_(clock),
        limits_(clock, options.rules),
        proxies_(std::move(options.proxies)),
        is_password_(std::move(options.is_password)),
        audit_(audit) {}

  struct SignedIn {
    access::Session session;
    std::string token;
    Caller caller;
  };
  // Each fails with sign_in_refused, too_many_sign_ins, overloaded, no_sessions, or store_unavailable.
  base::Result<SignedIn, Problem> with_password(const std::string& user, const std::string& password,
                                                const std::string& from);
  base::Result<SignedIn, Problem> with_key(const std::string& secret, const std::string& from);

  // The address that a request comes from, behind a proxy that is believed.
  std::string address_of(const http::Request& request) const;

  // Users and API keys of this name that the operator may see: those of the operator's tenant, if there is one. Each
  // has sessions of its own.
  std::vector<Caller> visible(std::string_view name, const Caller& to) const;

  // The newest first.
  base::Result<std::vector<access::Session>, Problem> list(const Caller& whose);
  base::Result<bool, Problem> revoke(const Caller& whose, const std::string& id);  // false: they have no such session
  base::Result<int, Problem> revoke_all(const Caller& whose);                      // how many there were

  // In Prometheus' text format.
  void append_metrics(std::string& out) const;

 private:
  base::Result<SignedIn, Problem> begin_session(const Caller& caller, std::string credential, const std::string& from);
  bool is_right(const Access& access, const User* user, const std::string& name, const std::string& password);
  tl::unexpected<Problem> refuse_wrong(const std::string& name, const std::string& from);
  tl::unexpected<Problem> refuse_slowed(base::Milliseconds wait, const std::string& name, const std::string& from);
  tl::unexpected<Problem> refuse_crowd(const std::string& from);

  // Of lines about what callers can cause as often as they like, the log has one a minute.
  class LinePause {
   public:
    bool is_over(const base::Clock& clock);

   private:
    std::atomic<std::int64_t> end_ = std::numeric_limits<std::int64_t>::min();  // in the clock's monotonic milliseconds
  };

  const base::Swappable<Access>& access_;
  access::Sessions& sessions_;
  const base::Clock& clock_;
  access::SignInLimits limits_;
  const std::vector<std::string> proxies_;
  const std::function<bool(std::string_view password, const std::string& hash)> is_password_;
  access::Audit* const audit_;
  std::counting_semaphore<most_hashing> hashing_{most_hashing};
  std::atomic<int> present_ = 0;
  std::atomic<std::uint64_t> succeeded_ = 0;
  std::atomic<std::uint64_t> failed_ = 0;
  std::atomic<std::uint64_t> slowed_ = 0;
  std::atomic<std::uint64_t> overloaded_ = 0;
  LinePause slowed_line_;
  LinePause crowd_line_;
};

}  // namespace postino::api
