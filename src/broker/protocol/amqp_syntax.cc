#include "broker/protocol/amqp_syntax.h"

#include <cstdint>

namespace postino::broker {

namespace {

constexpr std::uint64_t described = 0;
constexpr int deepest_encoding = 1'000;
constexpr std::uint64_t most_members_without_bytes = 1'000;

// Goes through bytes value by value. The upper half of a type's code says what follows it: so many bytes, or a length
// and that many bytes, or a length, a count and that many values.
class Walk {
 public:
  explicit Walk(std::string_view bytes) : left_(bytes) {}

  bool is_done() const { return left_.empty(); }

  bool pass_section() { return !left_.empty() && left_.front() == '\0' && pass_value(0); }

 private:
  bool pass_value(int depth) {
    std::uint64_t code = 0;
    return pass_constructor(depth, code) && pass_content(code, depth);
  }

  // The code of the type, behind what describes it.
  bool pass_constructor(int depth, std::uint64_t& code) {
    if (depth > deepest_encoding) return false;
    for (int descriptions = 0; descriptions <= deepest_encoding; ++descriptions) {
      if (!read(1, code)) return false;
      if (code != described) return true;
      if (!pass_value(depth + 1)) return false;
    }
    return false;
  }

  bool pass_content(std::uint64_t code, int depth) {
    const std::uint64_t kind = code >> 4;
    const std::size_t length_size = kind % 2 == 0 ? 1 : 4;
    switch (kind) {
      case 0x4:
      case 0x5:
      case 0x6:
      case 0x7:
      case 0x8:
      case 0x9:
        return skip(fixed_size(kind));
      case 0xA:
      case 0xB: {
        std::uint64_t size = 0;
        return read(length_size, size) && skip(size);
      }
      case 0xC:
      case 0xD:
        return pass_members(length_size, depth, [](Walk& inside, std::uint64_t count, int inner_depth) {
          for (; count > 0; --count)
            if (!inside.pass_value(inner_depth)) return false;
          return true;
        });
      case 0xE:
      case 0xF:
        return pass_members(length_size, depth, [](Walk& inside, std::uint64_t count, int inner_depth) {
          std::uint64_t element = 0;
          if (!inside.pass_constructor(inner_depth, element)) return false;
          if (element >> 4 == 0x4 && count > most_members_without_bytes) return false;
          for (; count > 0; --count)
            if (!inside.pass_content(element, inner_depth)) return false;
          return true;
        });
      default:
        return false;
    }
  }

  static std::uint64_t fixed_size(std::uint64_t kind) {
    constexpr std::uint64_t sizes[] = {0, 1, 2, 4, 8, 16};
    return sizes[kind - 4];
  }

  template <class Members>
  bool pass_members(std::size_t length_size, int depth, const Members& members) {
    std::uint64_t size = 0;
    if (!read(length_size, size) || size > left_.size()) return false;
    Walk inside(left_.substr(0, size));
    std::uint64_t count = 0;
    if (!inside.read(length_size, count) || !members(inside, count, depth + 1) || !inside.is_done()) return false;
    return skip(size);
  }

  bool skip(std::uint64_t size) {
    if (size > left_.size()) return false;
    left_.remove_prefix(size);
    return true;
  }

  bool read(std::size_t size, std::uint64_t& number) {
    if (left_.size() < size) return false;
    number = 0;
    for (const char byte : left_.substr(0, size)) number = number << 8 | static_cast<unsigned char>(byte);
    left_.remove_prefix(size);
    return true;
  }

  std::string_view left_;
};

}  // namespace

bool is_made_of_sections(std::string_view bytes) {
  Walk walk(bytes);
  while (!walk.is_done())
    if (!walk.pass_section()) return false;
  return true;
}

}  // namespace postino::broker
