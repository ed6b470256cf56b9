// What libFuzzer calls. FUZZ_TARGET is the name of the target that the program is built for.
#include <cstddef>
#include <cstdint>

#include "targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  postino::fuzz::FUZZ_TARGET(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
