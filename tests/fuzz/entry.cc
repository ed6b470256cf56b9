// What libFuzzer calls. One program has all targets, because linking it takes longer than starting it: it runs the one
// that it is called by the name of, such as fuzz_number.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/check.h"
#include "targets.h"

namespace {

const postino::fuzz::Target* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** arguments) {
  const std::string called = std::filesystem::path((*arguments)[0]).filename();
  chosen = std::ranges::find_if(postino::fuzz::targets, [&](const postino::fuzz::Target& target) {
    return called == "fuzz_" + std::string(target.name);
  });
  CHECK(chosen != std::end(postino::fuzz::targets));
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen->run(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
