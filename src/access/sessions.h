// Sessions of people and programs that have signed in: SESSION#{id}/METADATA in the table of the support desk, as seed
// 004 has them. They end after a day, or when they are revoked.
//
// A caller gets a token: the id of the session, which others may see, and a secret, of which only a digest is stored.
// So a reader of the table, or of a list of sessions, cannot act as one of them.
//
// The sessions of a user are found by an index. Where the store is shared an index may not have the newest ones yet,
// and none must stay open when all are revoked: there each session has an entry beside it, written in the same commit,
// and the entries of a user are one partition, which is read consistently. Sessions of a store that was not shared have
// none and are still found by the index.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "store/retry.h"
#include "store/store.h"

namespace postino::access {

// What the key PK of all items of sessions begins with. They are among the tickets, and only the server writes them.
inline constexpr const char* session_partitions = "SESSION#";

struct SessionOptions {
  std::string table = "prod-tickets-unified";
  base::Milliseconds life = std::chrono::hours(24);
  // Makes the table unless it is there. Called when the first session is created.
  std::function<base::Result<void>()> prepare = {};
};

struct Session {
  std::string id;       // "sess_" and a UUID
  std::string user_id;  // who signed in: the name of a user, or of an API key
  bool of_api_key = false;
  std::string tenant;      // empty: none
  std::string customer;    // the one that the caller is bound to; empty: none
  std::string credential;  // stands for the password or the key of the sign-in: with another one the session has ended
  std::string from;        // the address of the sign-in
  base::TimePoint created_at{};
  base::TimePoint expires_at{};
};

// Are they of the same caller, with the same credential?
bool have_same_holder(const Session& one, const Session& other);

// Safe to use from any thread.
class Sessions {
 public:
  static constexpr std::size_t most_of_one_user = 100;  // a new one ends the oldest

  Sessions(store::Store& store, SessionOptions options, const base::Clock& clock, base::Random& random,
           store::Retry retry)
      : store_(store), options_(std::move(options)), clock_(clock), random_(random), retry_(std::move(retry)) {}

  struct Created {
    Session session;
    std::string token;  // told once
  };
  // Of the session, who it is for is used; the rest is made.
  store::Answer<Created> create(Session session);

  // Is this text a token, as far as its form tells?
  static bool is_token(std::string_view text);
  // nullopt: there is none, it has ended, or the secret is another. Does not wait: a store that is busy is an error at
  // once.
  store::Answer<std::optional<Session>> find(std::string_view token);

  // Of one user, the newest first, without those that have ended.
  store::Answer<std::vector<Session>> list(const Session& whose);
  // False when that user has no such session.
  store::Answer<bool> revoke(const Session& whose, const std::string& id);
  // How many there were.
  store::Answer<int> revoke_all(const Session& whose);
  // The same of those that began with this credential.
  store::Answer<int> revoke_credential(const Session& holder);
  // Of a session that was found: its holder is not there any more. Tried once; what fails is found again.
  void forget(const Session& session);

 private:
  store::Answer<std::optional<item::Item>> read(const std::string& id);
  // Where sessions of a user are found.
  enum class Source { index, entries };
  std::vector<Source> sources() const;
  // The newest of them, at most `most`, the newest first.
  store::Answer<std::vector<item::Item>> items_of(const Session& whose, std::size_t most);
  store::Answer<store::PageResponse> page_of(Source source, const Session& whose, std::optional<item::Key> after);
  // The sessions that these tell of and that are there still, in the same order.
  store::Answer<std::vector<item::Item>> read_all(const std::vector<item::Item>& told);
  store::Answer<void> write(const Session& session, const std::string& secret);
  store::Answer<void> remove(const Session& session);
  store::TransactWriteItemsRequest removal_of(const Session& session) const;
  template <class Which>
  store::Answer<int> remove_those(const Session& whose, const Which& which);
  store::Answer<void> prepare_once();
  bool has_ended(const Session& session) const { return session.expires_at <= clock_.now(); }

  store::Store& store_;
  const SessionOptions options_;
  const base::Clock& clock_;
  base::Random& random_;
  const store::Retry retry_;
  std::atomic<bool> is_prepared_ = false;
};

}  // namespace postino::access
