#include <algorithm>

#include "base/bytes.h"
#include "item/binary_codec.h"
#include "item/binary_format.h"

namespace postino::item {
namespace {

// Reads into a place that the caller owns and says whether the bytes were good. Inner calls return only that, so that
// the common case carries no error object around.
class BinaryDecoder {
 public:
  explicit BinaryDecoder(std::string_view bytes) : in_(bytes) {}

  bool at_end() const { return in_.empty(); }

  bool value(AttributeValue& out) {
    const auto tag = in_.byte();
    if (!tag) return false;
    switch (static_cast<Tag>(*tag)) {
      case Tag::null:
        return out.emplace<Null>(), true;
      case Tag::boolean_false:
        return out.emplace<bool>(false), true;
      case Tag::boolean_true:
        return out.emplace<bool>(true), true;
      case Tag::string:
        return text(out.emplace<std::string>());
      case Tag::binary:
        return text(out.emplace<Binary>().bytes);
      case Tag::integer:
      case Tag::positive_decimal:
      case Tag::negative_decimal:
        return number(static_cast<Tag>(*tag), out.emplace<Number>());
      case Tag::string_set:
        return set<std::string>(out);
      case Tag::number_set:
        return set<Number>(out);
      case Tag::binary_set:
        return set<Binary>(out);
      case Tag::list:
        return list(out.emplace<List>());
      case Tag::map:
        return map(out.emplace<Map>());
    }
    return false;
  }

  bool tagged_map(Map& out) {
    const auto tag = in_.byte();
    return tag && static_cast<Tag>(*tag) == Tag::map && map(out);
  }

 private:
  // Refuses an encoding that is longer than it need be, or overflows.
  std::optional<std::uint64_t> varint() {
    const std::string_view before = in_.rest();
    if (!before.empty() && static_cast<std::uint8_t>(before.front()) < 0x80) return in_.byte();  // nearly always
    const auto value = in_.varint();
    if (!value) return std::nullopt;
    const std::size_t length = before.size() - in_.rest().size();
    const auto last = static_cast<std::uint8_t>(before[length - 1]);
    if (length > 1 && (last == 0 || (length == 10 && last > 1))) return std::nullopt;
    return value;
  }

  std::optional<std::string_view> view() {
    const auto length = varint();
    if (!length) return std::nullopt;
    return in_.take(*length);
  }

  bool text(std::string& out) {
    const auto bytes = view();
    if (!bytes) return false;
    out.assign(*bytes);
    return true;
  }

  // How many elements follow; none is shorter than element_size.
  std::optional<std::size_t> count(std::size_t element_size) {
    const auto value = varint();
    if (!value || *value > in_.rest().size() / element_size) return std::nullopt;
    return *value;
  }

  // Trusts a count only so far: a false one must not claim memory on every level of nesting.
  static std::size_t reservation(std::size_t count) { return std::min<std::size_t>(count, 256); }

  bool number(Tag tag, Number& out) {
    const auto first = varint();
    if (!first) return false;
    if (tag == Tag::integer) return out = Number(from_zigzag(*first)), true;
    const auto coefficient = read_coefficient();
    const std::int64_t exponent = from_zigzag(*first);
    if (!coefficient || exponent < -200 || exponent > 200) return false;
    const auto made = Number::make(tag == Tag::negative_decimal, *coefficient, static_cast<int>(exponent));
    if (!made || made->is_zero() || made->exponent() != exponent) return false;
    if (exponent >= 0 && made->to_int64()) return false;  // belongs into the integer form
    out = *made;
    return true;
  }

  std::optional<Number::Coefficient> read_coefficient() {
    Number::Coefficient value = 0;
    for (int shift = 0; shift < 127; shift += 7) {
      const auto next = in_.byte();
      if (!next || (*next == 0 && shift > 0) || (*next > 1 && shift == 126)) return std::nullopt;
      value |= static_cast<Number::Coefficient>(*next & 0x7F) << shift;
      if (*next < 0x80) return value;
    }
    return std::nullopt;
  }

  bool member(std::string& out) { return text(out); }
  bool member(Binary& out) { return text(out.bytes); }
  bool member(Number& out) {
    const auto tag = in_.byte();
    if (!tag || *tag < static_cast<int>(Tag::integer) || *tag > static_cast<int>(Tag::negative_decimal)) return false;
    return number(static_cast<Tag>(*tag), out);
  }

  template <class Member>
  bool set(AttributeValue& out) {
    const auto size = count(1);
    if (!size) return false;
    std::vector<Member> members;
    members.reserve(reservation(*size));
    for (std::size_t i = 0; i < *size; ++i) {
      if (!member(members.emplace_back())) return false;
      if (i > 0 && members[i - 1] >= members[i]) return false;
    }
    out.emplace<Set<Member>>(std::move(members));
    return true;
  }

  bool list(List& out) {
    const auto size = count(1);
    if (!size || ++depth_ > max_encoded_depth) return false;
    out.reserve(reservation(*size));
    for (std::size_t i = 0; i < *size; ++i)
      if (!value(out.emplace_back())) return false;
    --depth_;
    return true;
  }

  bool map(Map& out) {
    const auto size = count(2);
    if (!size || ++depth_ > max_encoded_depth) return false;
    std::vector<Attribute> attributes;
    attributes.reserve(reservation(*size));
    for (std::size_t i = 0; i < *size; ++i) {
      Attribute& attribute = attributes.emplace_back();
      if (!text(attribute.name) || !value(attribute.value)) return false;
    }
    auto sorted = Map::from_sorted(std::move(attributes));
    if (!sorted) return false;
    out = *std::move(sorted);
    --depth_;
    return true;
  }

  base::ByteReader in_;
  int depth_ = 0;
};

tl::unexpected<base::Error> damaged() {
  return base::fail(base::ErrorCode::corrupt, "stored attribute values are damaged");
}

}  // namespace

base::Result<AttributeValue> decode_value(std::string_view bytes) {
  base::Result<AttributeValue> result;
  BinaryDecoder decoder(bytes);
  if (!decoder.value(*result) || !decoder.at_end()) return damaged();
  return result;
}

base::Result<Map> decode_map(std::string_view bytes) {
  base::Result<Map> result;
  BinaryDecoder decoder(bytes);
  if (!decoder.tagged_map(*result) || !decoder.at_end()) return damaged();
  return result;
}

}  // namespace postino::item
