// How objects of backups are written: sealed with a data key, or as they are with a sum. Either way an object is bound
// to its name: one that was changed, cut, or put in the place of another is refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/result.h"

namespace postino::backup {

// What contents are sealed with. It lies in the place, sealed by the master key.
struct DataKey {
  std::string id;      // 16 hexadecimal digits
  std::string secret;  // 32 bytes
};

// The form is part of the format of backups: docs/formats.md. Safe to use from any thread.
class SealedForm {
 public:
  // Without a key, objects can be read by everybody, and changed by those who know the form.
  explicit SealedForm(std::optional<DataKey> key) : key_(std::move(key)) {}

  bool is_sealed() const { return key_.has_value(); }
  const std::optional<DataKey>& key() const { return key_; }

  // What contents are called. The same contents have the same name, which says nothing about them without the key.
  std::string chunk_of(std::string_view contents) const;

  std::string encode(std::string_view name, std::string_view contents, base::Random& random) const;
  // corrupt when it is not what was written under the name; invalid when it is sealed with another key, or is not
  // sealed although there is one.
  base::Result<std::string> decode(std::string_view name, std::string_view object) const;

 private:
  std::optional<DataKey> key_;
};

// The id of the key that an object is sealed with; empty when it is not sealed. corrupt when it is no such object.
base::Result<std::string> key_of_object(std::string_view object);

}  // namespace postino::backup
