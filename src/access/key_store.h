// The table of keys: what is in it, and what changes it.
//
// Each change counts up the version of the table in the same commit, and is refused when another process has changed
// something since the keys were read. So the rules about several keys hold, and a process sees by one small item
// whether anything has changed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "access/quota_meter.h"
#include "access/stored_key.h"
#include "access/temporary_key.h"
#include "base/clock.h"
#include "base/random.h"
#include "sealing/sealer_source.h"
#include "store/retry.h"
#include "store/store.h"
#include "store/table_setup.h"

namespace postino::access {

struct KeyTable {
  std::string name = "postino-keys";
  // It is marked as one that other programs may only read: in a store of its own.
  bool is_marked = true;
};

store::TableSetup key_table_setup(const KeyTable& table);
base::Result<void> prepare_keys(store::Store& store, const KeyTable& table);

// What the table has at a moment.
struct KeySet {
  std::int64_t version = 0;
  // Was there ever a key of this kind? Then the API stays closed to those who have none.
  bool had_api_keys = false;
  bool had_access_keys = false;
  std::vector<StoredKey> keys;  // in the order of ids
  struct Unreadable {
    std::string id;
    base::Error why;
  };
  std::vector<Unreadable> unreadable;  // these do not count

  const StoredKey* find(std::string_view id) const;
};

struct MadeKey {
  StoredKey key;
  std::string secret;  // told once
};

// Safe to use from any thread. Errors: invalid with the rule that is broken, not_found when there is no such key,
// conflict when the state of the keys forbids it, exhausted and io as the store fails.
class KeyStore {
 public:
  // The table must be there. Everything given must outlive it.
  KeyStore(store::Store& store, KeyTable table, sealing::SealerSource& sealing, const base::Clock& clock,
           base::Random& random, store::Retry retry)
      : store_(store),
        table_(std::move(table)),
        sealing_(sealing),
        clock_(clock),
        random_(random),
        retry_(std::move(retry)) {}

  base::Result<std::int64_t> version();
  base::Result<KeySet> read();

  // A name belongs to one holder: another key of the same name and kind can only be made by replace().
  base::Result<MadeKey> create(const KeyRights& rights, std::optional<base::TimePoint> expires_at,
                               const std::string& created_by);
  // Another key with the same rights, and with the time that the earlier one had in all, if its time ends. The earlier
  // one counts for `overlap` more, unless it ends before.
  base::Result<MadeKey> replace(const std::string& id, base::Milliseconds overlap, const std::string& created_by);
  base::Result<StoredKey> set_disabled(const std::string& id, bool is_disabled);
  base::Result<void> remove(const std::string& id);
  // A temporary access key of this one, with the session token that belongs to it. `life` counts as long as the key
  // does.
  struct Session {
    TemporaryKey key;
    std::string token;
  };
  base::Result<Session> begin_session(const StoredKey& key, base::Milliseconds life, const std::string& policy);
  base::Result<TemporaryKey> open_token(std::string_view token);

  // When it was used last. It is no change of the key, and is not counted as one. Of a key that is gone nothing is
  // written.
  base::Result<void> note_use(const std::string& id, base::TimePoint when);

  // E-mails of a day, of all servers: adds some, and tells the sum.
  base::Result<QuotaMeter::Day> add_emails(const QuotaMeter& of, const QuotaMeter::Day& day);
  base::Result<QuotaMeter::Day> emails_of_today(const QuotaMeter& of);

  const KeyTable& table() const { return table_; }

 private:
  struct Change {
    std::vector<StoredKey> puts = {};      // new ones
    std::vector<StoredKey> replaced = {};  // that are there, as they are to be
    std::string removed = {};              // the id
  };
  // Reads the keys and applies what `plan` makes of them; again when another process was faster.
  template <class Plan>
  base::Result<void> apply(const Plan& plan);
  base::Result<store::TransactWriteItemsRequest> request_for(const KeySet& keys, const Change& change);
  StoredKey make(const KeyRights& rights, const std::string& created_by) const;

  store::Store& store_;
  const KeyTable table_;
  sealing::SealerSource& sealing_;
  const base::Clock& clock_;
  base::Random& random_;
  const store::Retry retry_;
};

}  // namespace postino::access
