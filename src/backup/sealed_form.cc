#include "backup/sealed_form.h"

#include "base/hash.h"
#include "sealing/aes_gcm.h"

namespace postino::backup {

namespace {

constexpr std::string_view object_magic = "PSTB";
constexpr char object_version = 1;
constexpr char plain_mark = 'p';
constexpr char sealed_mark = 's';
constexpr std::size_t key_id_bytes = 16;
constexpr std::size_t mark_at = 5;
constexpr std::size_t plain_header_bytes = 6;
constexpr std::size_t sum_bytes = 32;

std::string header_of(const std::optional<DataKey>& key) {
  std::string header(object_magic);
  header.push_back(object_version);
  header.push_back(key ? sealed_mark : plain_mark);
  if (key) header += key->id;
  return header;
}

std::string object_key(const DataKey& key, std::string_view name) {
  return base::hmac_sha256(key.secret, "object " + std::string(name));
}

std::string plain_sum(std::string_view header, std::string_view name, std::string_view contents) {
  // The sum of the contents is taken first: they are not copied.
  return base::sha256(std::string(header).append(name).append("\n").append(base::sha256(contents)));
}

tl::unexpected<base::Error> not_as_written() {
  return base::fail(base::ErrorCode::corrupt, "was changed or cut, or is another one's");
}

}  // namespace

std::string SealedForm::chunk_of(std::string_view contents) const {
  const std::string sum = base::sha256(contents);
  return base::to_hex(key_ ? base::hmac_sha256(base::hmac_sha256(key_->secret, "names"), sum) : sum);
}

std::string SealedForm::encode(std::string_view name, std::string_view contents, base::Random& random) const {
  std::string object = header_of(key_);
  if (key_) return object + sealing::seal(object_key(*key_, name), contents, object + std::string(name), random);
  object += plain_sum(header_of(key_), name, contents);
  return object.append(contents);
}

base::Result<std::string> SealedForm::decode(std::string_view name, std::string_view object) const {
  TRY(const std::string written_with, key_of_object(object));
  if (!key_ && !written_with.empty())
    return base::invalid("is sealed with data key " + written_with + ", and there is no master key");
  if (key_ && written_with.empty()) return base::invalid("is not sealed, and all objects of this backup are");
  if (key_ && written_with != key_->id)
    return base::invalid("is sealed with data key " + written_with + " instead of " + key_->id);
  const std::string header = header_of(key_);
  object.remove_prefix(header.size());
  if (key_) {
    auto contents = sealing::unseal(object_key(*key_, name), object, header + std::string(name));
    if (!contents) return not_as_written();
    return *std::move(contents);
  }
  if (object.size() < sum_bytes) return not_as_written();
  const std::string_view contents = object.substr(sum_bytes);
  if (plain_sum(header, name, contents) != object.substr(0, sum_bytes)) return not_as_written();
  return std::string(contents);
}

base::Result<std::string> key_of_object(std::string_view object) {
  if (object.size() < plain_header_bytes || !object.starts_with(object_magic))
    return base::fail(base::ErrorCode::corrupt, "is no object of a backup, or was cut");
  if (object[object_magic.size()] != object_version) return base::invalid("was written by a newer version of Postino");
  if (object[mark_at] == plain_mark) return std::string();
  if (object[mark_at] != sealed_mark || object.size() < plain_header_bytes + key_id_bytes) return not_as_written();
  return std::string(object.substr(plain_header_bytes, key_id_bytes));
}

}  // namespace postino::backup
