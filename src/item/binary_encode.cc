#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"
#include "item/binary_codec.h"
#include "item/binary_format.h"

namespace postino::item {
namespace {

class Encoder {
 public:
  explicit Encoder(std::string& out) : out_(out) {}

  void operator()(Null) { tag(Tag::null); }
  void operator()(bool value) { tag(value ? Tag::boolean_true : Tag::boolean_false); }

  void operator()(const std::string& text) {
    tag(Tag::string);
    bytes(text);
  }

  void operator()(const Binary& binary) {
    tag(Tag::binary);
    bytes(binary.bytes);
  }

  void operator()(const Number& number) {
    const auto integer = number.exponent() >= 0 ? number.to_int64() : std::nullopt;
    if (integer) {
      tag(Tag::integer);
      base::append_varint(out_, to_zigzag(*integer));
      return;
    }
    tag(number.negative() ? Tag::negative_decimal : Tag::positive_decimal);
    base::append_varint(out_, to_zigzag(number.exponent()));
    coefficient(number.coefficient());
  }

  void operator()(const StringSet& set) {
    begin(Tag::string_set, set.size());
    for (const std::string& member : set.members()) bytes(member);
  }

  void operator()(const NumberSet& set) {
    begin(Tag::number_set, set.size());
    for (const Number& member : set.members()) (*this)(member);
  }

  void operator()(const BinarySet& set) {
    begin(Tag::binary_set, set.size());
    for (const Binary& member : set.members()) bytes(member.bytes);
  }

  void operator()(const List& list) {
    begin(Tag::list, list.size());
    enter();
    for (const AttributeValue& element : list) std::visit(*this, element.storage());
    --depth_;
  }

  void encode_some(const Map& map, std::span<const std::string> names) {
    const auto has = [&](const std::string& name) { return map.contains(name); };
    begin(Tag::map, static_cast<std::size_t>(std::ranges::count_if(names, has)));
    enter();
    for (const std::string& name : names) {
      const AttributeValue* const value = map.find(name);
      if (value == nullptr) continue;
      bytes(name);
      std::visit(*this, value->storage());
    }
    --depth_;
  }

  void operator()(const Map& map) {
    begin(Tag::map, map.size());
    enter();
    for (const auto& [name, value] : map) {
      bytes(name);
      std::visit(*this, value.storage());
    }
    --depth_;
  }

 private:
  void tag(Tag value) { out_.push_back(static_cast<char>(value)); }

  void begin(Tag value, std::size_t count) {
    tag(value);
    base::append_varint(out_, count);
  }

  // What is written deeper could not be read again.
  void enter() { CHECK(++depth_ <= max_encoded_depth); }

  void bytes(std::string_view text) {
    base::append_varint(out_, text.size());
    out_.append(text);
  }

  void coefficient(Number::Coefficient value) {
    for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<char>(static_cast<std::uint8_t>(value) | 0x80));
    out_.push_back(static_cast<char>(value));
  }

  std::string& out_;
  int depth_ = 0;
};

}  // namespace

void encode(std::string& out, const AttributeValue& value) {
  Encoder encoder(out);
  std::visit(encoder, value.storage());
}

void encode(std::string& out, const Map& map) {
  Encoder encoder(out);
  encoder(map);
}

void encode(std::string& out, const Map& map, std::span<const std::string> names) {
  Encoder encoder(out);
  encoder.encode_some(map, names);
}

}  // namespace postino::item
