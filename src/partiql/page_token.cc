#include "partiql/page_token.h"

#include "base/base64.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "item/binary_codec.h"
#include "item/json_codec.h"

namespace postino::partiql {

namespace {

constexpr char version = 1;
constexpr std::size_t fingerprint_size = 16;

}  // namespace

std::string fingerprint_of(const Statement& statement) {
  std::string bytes;
  base::append_varint(bytes, statement.text.size());
  bytes += statement.text;
  for (const item::AttributeValue& parameter : statement.parameters) item::encode(bytes, parameter);
  return base::sha256(bytes).substr(0, fingerprint_size);
}

std::string encode_token(const std::string& fingerprint, const PagePosition& position) {
  std::string bytes = version + fingerprint;
  base::append_varint(bytes, position.range);
  if (position.after) item::encode(bytes, *position.after);
  return base::to_base64(bytes);
}

store::Answer<PagePosition> decode_token(const std::string& fingerprint, std::string_view token) {
  const auto invalid = [] { return store::refuse_invalid("Invalid NextToken"); };
  const auto bytes = base::from_base64(token);
  if (!bytes) return invalid();
  base::ByteReader reader(*bytes);
  const auto found_version = reader.take(1);
  const auto found_fingerprint = reader.take(fingerprint_size);
  const auto range = reader.varint();
  if (!found_version || found_version->front() != version || !found_fingerprint || !range) return invalid();
  if (*found_fingerprint != fingerprint) return store::refuse_invalid("NextToken does not match request");
  PagePosition position{static_cast<std::size_t>(*range), std::nullopt};
  if (reader.empty()) return position;
  auto key = item::decode_map(reader.rest());
  if (!key) return invalid();
  position.after = *std::move(key);
  return position;
}

}  // namespace postino::partiql
