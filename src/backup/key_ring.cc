#include "backup/key_ring.h"

#include <algorithm>
#include <set>

#include "base/base64.h"
#include "base/hash.h"
#include "json/document.h"
#include "json/writer.h"
#include "sealing/aes_gcm.h"

namespace postino::backup {

namespace {

struct StoredKey {
  std::string id;
  std::string master;  // the id of the master key that has sealed it
  std::string sealed;
};

// What a sealed key is bound to: it cannot be put in the place of another one.
std::string bound_text(std::string_view id, std::string_view master) {
  return "postino data key " + std::string(id) + " " + std::string(master);
}

std::string stored_key_text(const DataKey& key, const MasterKey& master, base::Random& random) {
  const std::string sealed = sealing::seal(master.secret(), key.secret, bound_text(key.id, master.id()), random);
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("format").integer(1);
  json.key("key").string(key.id);
  json.key("master").string(master.id());
  json.key("sealed").string(base::to_base64(sealed));
  json.end_object();
  return text + "\n";
}

tl::unexpected<base::Error> damaged_key(std::string_view id) {
  return base::fail(base::ErrorCode::corrupt, "data key " + std::string(id) + " was changed or cut");
}

base::Result<StoredKey> stored_key_of(std::string_view id, std::string_view text) {
  json::Document document;
  json::FieldErrors errors;
  if (!document.parse(text, errors)) return damaged_key(id);
  const auto member = [&](std::string_view name) {
    const auto found = document.root().member(name);
    return std::string(found ? found->text().value_or("") : "");
  };
  const auto sealed = base::from_base64(member("sealed"));
  StoredKey key{member("key"), member("master"), sealed ? *sealed : std::string()};
  if (key.id != id || key.master.empty() || key.sealed.empty()) return damaged_key(id);
  return key;
}

base::Result<std::vector<StoredKey>> stored_keys(Place& place) {
  TRY(const Place::Listing listing, place.list(keys_folder));
  std::vector<StoredKey> keys;
  for (const objects::ObjectInfo& object : listing.objects) {
    TRY(const std::string text, place.get(std::string(keys_folder) + object.name));
    TRY(StoredKey key, stored_key_of(object.name, text));
    keys.push_back(std::move(key));
  }
  return keys;
}

base::Result<DataKey> open_key(const StoredKey& key, const MasterKey& master) {
  auto secret = sealing::unseal(master.secret(), key.sealed, bound_text(key.id, key.master));
  if (!secret || secret->size() != sealing::key_bytes) return damaged_key(key.id);
  return DataKey{key.id, *std::move(secret)};
}

std::string wanted_masters(const std::vector<StoredKey>& keys) {
  std::set<std::string> masters;
  for (const StoredKey& key : keys) masters.insert(key.master);
  std::string text;
  for (const std::string& each : masters) text += (text.empty() ? "" : " or ") + each;
  return text;
}

}  // namespace

base::Result<SealedForm> form_to_write(Place& place, const std::optional<MasterKey>& master, base::Random& random) {
  if (!master) return SealedForm(std::nullopt);
  TRY(const std::vector<StoredKey> keys, stored_keys(place));
  for (const StoredKey& key : keys) {
    if (key.master != master->id()) continue;
    TRY(DataKey opened, open_key(key, *master));
    return SealedForm(std::move(opened));
  }
  if (!keys.empty())
    return base::invalid("the backups there are sealed by master key " + wanted_masters(keys) + ", and this is " +
                         master->id() + "; 'postino backup change-key' gives them another master key");
  DataKey made{base::to_hex(sealing::random_bytes(random, 8)), sealing::random_bytes(random, sealing::key_bytes)};
  TRY_VOID(place.put(std::string(keys_folder) + made.id, stored_key_text(made, *master, random)));
  return SealedForm(std::move(made));
}

base::Result<SealedForm> form_to_read(Place& place, std::string_view manifest, const std::optional<MasterKey>& master) {
  TRY(const std::string id, key_of_object(manifest));
  if (id.empty() && master)
    return base::invalid("is not sealed, so nobody can tell who has written it; leave out the master key to use it");
  if (id.empty()) return SealedForm(std::nullopt);
  auto text = place.get(std::string(keys_folder) + id);
  if (!text && text.error().code == base::ErrorCode::not_found)
    return base::fail(base::ErrorCode::not_found,
                      "is sealed with data key " + id + ", which is not among the keys of this place");
  if (!text) return base::propagate(text.error());
  TRY(const StoredKey key, stored_key_of(id, *text));
  if (!master) return base::invalid("is sealed: it needs master key " + key.master);
  if (key.master != master->id())
    return base::invalid("needs master key " + key.master + ", and this is " + master->id());
  TRY(DataKey opened, open_key(key, *master));
  return SealedForm(std::move(opened));
}

base::Result<KeyChange> change_master_key(Place& place, const MasterKey& from, const MasterKey& to,
                                          base::Random& random) {
  if (from.id() == to.id()) return base::invalid("the new master key is the old one");
  TRY(const std::vector<StoredKey> keys, stored_keys(place));
  if (keys.empty()) return base::fail(base::ErrorCode::not_found, "no backup there is sealed: there is no data key");
  KeyChange change;
  std::vector<DataKey> opened;
  for (const StoredKey& key : keys) {
    if (key.master == to.id()) {
      TRY_VOID(open_key(key, to));
      ++change.already;
      continue;
    }
    if (key.master != from.id())
      return base::invalid("data key " + key.id + " needs master key " + key.master + ", and the old one given is " +
                           from.id() + "; nothing was changed");
    TRY(DataKey each, open_key(key, from));
    opened.push_back(std::move(each));
  }
  for (const DataKey& key : opened) {
    TRY_VOID(place.put(std::string(keys_folder) + key.id, stored_key_text(key, to, random)));
    ++change.sealed;
  }
  return change;
}

}  // namespace postino::backup
