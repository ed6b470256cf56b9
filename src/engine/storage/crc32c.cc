#include "engine/storage/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#endif

namespace postino::engine {

namespace {

constexpr std::uint32_t castagnoli = 0x82F63B78;  // the polynomial, bits reversed

// Table k has the checksums of a byte with k zero bytes behind it: eight bytes are looked up at once.
constexpr auto crc_tables = [] {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? castagnoli : 0);
    tables[0][byte] = remainder;
  }
  for (std::size_t k = 1; k < tables.size(); ++k)
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t shorter = tables[k - 1][byte];
      tables[k][byte] = (shorter >> 8) ^ tables[0][shorter & 0xFF];
    }
  return tables;
}();

std::uint32_t crc32c_by_table(std::string_view bytes, std::uint32_t remainder) {
  while (bytes.size() >= 8) {
    std::array<unsigned char, 8> eight;
    std::memcpy(eight.data(), bytes.data(), eight.size());
    for (std::size_t i = 0; i < 4; ++i) eight[i] ^= static_cast<unsigned char>(remainder >> (8 * i));
    remainder = 0;
    for (std::size_t i = 0; i < 8; ++i) remainder ^= crc_tables[7 - i][eight[i]];
    bytes.remove_prefix(8);
  }
  for (const char byte : bytes)
    remainder = (remainder >> 8) ^ crc_tables[0][(remainder ^ static_cast<unsigned char>(byte)) & 0xFF];
  return remainder;
}

// Most processors have an instruction for this sum, which is many times as fast as tables. A start sums up all logs.
#if defined(__x86_64__)
#define POSTINO_HAS_CRC_INSTRUCTION
bool has_crc_instruction() { return __builtin_cpu_supports("sse4.2") != 0; }

__attribute__((target("sse4.2"))) std::uint32_t crc32c_by_instruction(std::string_view bytes, std::uint32_t remainder) {
  const char* place = bytes.data();
  const char* const end = place + bytes.size();
  std::uint64_t wide = remainder;
  for (; end - place >= 8; place += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, place, sizeof eight);
    wide = _mm_crc32_u64(wide, eight);
  }
  remainder = static_cast<std::uint32_t>(wide);
  for (; place != end; ++place) remainder = _mm_crc32_u8(remainder, static_cast<unsigned char>(*place));
  return remainder;
}
#elif defined(__aarch64__)
#define POSTINO_HAS_CRC_INSTRUCTION
#if defined(__clang__)
#define POSTINO_CRC_TARGET __attribute__((target("crc")))
#else
#define POSTINO_CRC_TARGET __attribute__((target("+crc")))
#endif
bool has_crc_instruction() { return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0; }

POSTINO_CRC_TARGET std::uint32_t crc32c_by_instruction(std::string_view bytes, std::uint32_t remainder) {
  const char* place = bytes.data();
  const char* const end = place + bytes.size();
  for (; end - place >= 8; place += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, place, sizeof eight);
    remainder = __crc32cd(remainder, eight);
  }
  for (; place != end; ++place) remainder = __crc32cb(remainder, static_cast<unsigned char>(*place));
  return remainder;
}
#endif

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
#if defined(POSTINO_HAS_CRC_INSTRUCTION)
  static const bool by_instruction = has_crc_instruction();
  if (by_instruction) return ~crc32c_by_instruction(bytes, ~before);
#endif
  return portable_crc32c(bytes, before);
}

std::uint32_t portable_crc32c(std::string_view bytes, std::uint32_t before) { return ~crc32c_by_table(bytes, ~before); }

std::uint32_t masked_crc32c(std::uint32_t checksum) { return ((checksum >> 15) | (checksum << 17)) + 0xA282EAD8; }

}  // namespace postino::engine

// What RocksDB calls for its own sum, once the linker has been told so (see CMakeLists.txt of this module). It makes
// the same sum; but as Debian builds it, always by tables.
extern "C" std::uint32_t __wrap__ZN7rocksdb6crc32c6ExtendEjPKcm(  // NOLINT(bugprone-reserved-identifier)
    std::uint32_t before, const char* bytes, std::size_t size) {
  return postino::engine::crc32c({bytes, size}, before);
}
