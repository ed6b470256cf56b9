// Which keys get the most, in bounded memory: the space-saving sketch of Metwally, Agrawal and El Abbadi.
//
// A few keys are counted. A key that is not among them takes the place of the one with the least, and its count, which
// is then too high by as much at most. To be quick where there are many keys, it does so by chance, and the more often
// the more it gets: so what a key gets before it is counted is missing, which is little of a key that gets much.
//
// For each key it also knows the most that the key got within one second.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace postino::capacity {

// For one thread at a time.
class HeavyHitters {
 public:
  static constexpr std::size_t most_keys = 16;
  static constexpr std::size_t most_key_bytes = 256;  // of longer keys, this much is kept

  struct Key {
    std::string bytes;
    bool is_cut = false;
    std::uint64_t amount = 0;       // about what it got
    std::uint64_t most_excess = 0;  // it got no less than the amount without this
    std::uint64_t most_in_a_second = 0;

    std::uint64_t least() const { return amount - most_excess; }
  };

  // `hash` is one of the bytes. Seconds may not go back.
  void add(std::uint32_t hash, std::string_view bytes, std::uint64_t amount, std::int64_t second);

  std::vector<Key> keys() const;
  void clear();

 private:
  struct Counter {
    Key key;
    std::int64_t second = 0;
    std::uint64_t in_second = 0;
  };

  std::size_t find(std::uint32_t hash, std::string_view kept) const;
  std::size_t place_for(std::uint32_t hash, std::string_view bytes);

  std::array<std::uint32_t, most_keys> hashes_{};  // apart from the counters, so that a search reads little memory
  std::vector<Counter> counters_;
};

}  // namespace postino::capacity
