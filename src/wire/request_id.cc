#include "wire/request_id.h"

#include <random>
#include <string_view>

namespace postino::wire {

std::string make_request_id() {
  constexpr std::size_t length = 52;
  constexpr std::string_view symbols = "0123456789ABCDEFGHIJKLMNOPQRSTUV";
  constexpr int bits = 5;
  constexpr int symbols_per_draw = 12;
  thread_local std::mt19937_64 generator = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  std::string id(length, '0');
  std::uint64_t draw = 0;
  for (std::size_t i = 0; i < length; ++i) {
    if (i % symbols_per_draw == 0) draw = generator();
    id[i] = symbols[draw & ((1U << bits) - 1)];
    draw >>= bits;
  }
  return id;
}

}  // namespace postino::wire
