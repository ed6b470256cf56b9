#include "engine/storage/log_scan.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "engine/storage/crc32c.h"

namespace postino::engine {

namespace {

// A log is a row of blocks. A record lies in one block, or in fragments over several. Before each fragment stand its
// checksum (4 bytes), its length (2) and its type (1); a rest of a block that is too short for that is filled with
// zeros.
constexpr std::size_t log_block_size = 32 << 10;
constexpr std::size_t fragment_header_size = 7;

enum FragmentType : std::uint8_t { filler = 0, full = 1, first = 2, middle = 3, last = 4 };

struct Fragment {
  std::uint8_t type = filler;
  std::string_view payload;
  std::size_t end = 0;  // in the block
};

std::uint64_t load_little_endian(const char* bytes, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i)
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return value;
}

// What would be the fragment at this place of a block, going by its header alone; nothing when there can be none, then
// `what` says why.
std::optional<Fragment> header_at(std::string_view block, std::size_t offset, const char*& what) {
  if (offset + fragment_header_size > block.size()) {
    what = "the file ends in the middle of a record";
    return std::nullopt;
  }
  const char* const header = block.data() + offset;
  const auto length = static_cast<std::size_t>(load_little_endian(header + 4, 2));
  const auto type = static_cast<std::uint8_t>(header[6]);
  if (type < full || type > last) {
    what = "the bytes are not those of a record";
    return std::nullopt;
  }
  const std::size_t end = offset + fragment_header_size + length;
  if (end > block.size()) {
    what = block.size() < log_block_size ? "the file ends in the middle of a record" : "a record has a wrong length";
    return std::nullopt;
  }
  return Fragment{type, block.substr(offset + fragment_header_size, length), end};
}

bool has_its_checksum(std::string_view block, std::size_t offset, const Fragment& fragment) {
  const auto checksum = static_cast<std::uint32_t>(load_little_endian(block.data() + offset, 4));
  return masked_crc32c(crc32c(block.substr(offset + 6, 1 + fragment.payload.size()))) == checksum;
}

// The fragment at this place; nothing when there is none, then `what` says why.
std::optional<Fragment> fragment_at(std::string_view block, std::size_t offset, const char*& what) {
  const auto fragment = header_at(block, offset, what);
  if (!fragment || has_its_checksum(block, offset, *fragment)) return fragment;
  what = "a record has a wrong checksum";
  return std::nullopt;
}

bool is_block_end(std::string_view block, std::size_t offset) {
  return block.size() == log_block_size && offset + fragment_header_size > log_block_size;
}

class LogReader {
 public:
  LogReader(std::ifstream& file, LogKind kind, const EachRecord& each, bool past_faults)
      : file_(file), kind_(kind), each_(each), past_faults_(past_faults) {}

  LogScan read() {
    while (next_block() && (past_faults_ || !scan_.fault || !scan_.fault->followed)) read_block();
    if (in_record_) note_fault(record_begin_, "the file ends in the middle of a record");
    return std::move(scan_);
  }

 private:
  bool next_block() {
    block_begin_ += block_.size();
    buffer_.resize(log_block_size);
    file_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    block_ = std::string_view(buffer_.data(), static_cast<std::size_t>(file_.gcount()));
    return !block_.empty();
  }

  void read_block() {
    std::size_t offset = 0;
    while (offset < block_.size() && !is_block_end(block_, offset)) {
      const char* what = nullptr;
      const auto fragment = lost_ ? std::nullopt : fragment_at(block_, offset, what);
      if (fragment && is_in_order(*fragment)) {
        take(*fragment, offset);
        offset = fragment->end;
        continue;
      }
      // Of a record in fragments all of it is gone.
      if (!lost_)
        note_fault(in_record_ ? record_begin_ : block_begin_ + offset,
                   what != nullptr ? what : "a record is incomplete");
      const auto next = find_record(offset);
      lost_ = !next;
      if (!next || !past_faults_) return;
      offset = *next;
    }
  }

  bool is_in_order(const Fragment& fragment) const {
    return in_record_ == (fragment.type == middle || fragment.type == last);
  }

  void take(const Fragment& fragment, std::size_t offset) {
    if (!in_record_) {
      record_.clear();
      record_begin_ = block_begin_ + offset;
    }
    if (each_ || record_.size() < sequence_size) record_.append(fragment.payload);
    in_record_ = fragment.type == first || fragment.type == middle;
    if (in_record_) return;
    ++scan_.records;
    if (!scan_.fault) scan_.whole = block_begin_ + fragment.end;
    if (kind_ == LogKind::writes && record_.size() >= sequence_size) last_sequence_ = sequence_of(record_);
    if (each_) each_(record_);
  }

  void note_fault(std::uint64_t offset, const char* what) {
    if (!scan_.fault) scan_.fault = LogFault{offset, what, false};
    in_record_ = false;
  }

  // Where a later record begins in this block. The end of the damaged one is not known, so every place is tried.
  // Fragments of the damaged record itself tell nothing: the disk may write the blocks of one record in any order.
  std::optional<std::size_t> find_record(std::size_t offset) {
    const char* what = nullptr;
    for (; offset + fragment_header_size <= block_.size(); ++offset) {
      const auto type = static_cast<std::uint8_t>(block_[offset + 6]);
      if (type != full && type != first) continue;
      // The sum comes last: bytes that only look like a header would cost one of up to a whole block each.
      const auto fragment = header_at(block_, offset, what);
      if (!fragment || !is_later(*fragment) || !has_its_checksum(block_, offset, *fragment)) continue;
      scan_.fault->followed = true;
      return offset;
    }
    return std::nullopt;
  }

  // What customers store may look like a record. It does not know the sequence number that a later one would have.
  bool is_later(const Fragment& fragment) const {
    if (kind_ == LogKind::manifest) return true;
    constexpr std::uint64_t furthest = std::uint64_t{1} << 32;
    if (fragment.payload.size() < sequence_size) return false;
    const std::uint64_t sequence = sequence_of(fragment.payload);
    return !last_sequence_ || (sequence > *last_sequence_ && sequence - *last_sequence_ < furthest);
  }

  static constexpr std::size_t sequence_size = 8;
  static std::uint64_t sequence_of(std::string_view record) { return load_little_endian(record.data(), sequence_size); }

  std::ifstream& file_;
  const LogKind kind_;
  const EachRecord& each_;
  const bool past_faults_;
  std::string buffer_;
  std::string_view block_;
  std::uint64_t block_begin_ = 0;
  bool in_record_ = false;
  bool lost_ = false;  // after a fault, and no later record was found yet
  std::uint64_t record_begin_ = 0;
  std::string record_;
  std::optional<std::uint64_t> last_sequence_;
  LogScan scan_;
};

base::Result<LogScan> read_log(const std::filesystem::path& file, LogKind kind, const EachRecord& each,
                               bool past_faults) {
  std::ifstream in(file, std::ios::binary);
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(file, error);
  if (!in || error)
    return base::fail(base::ErrorCode::io, "cannot read '" + file.string() + "': " + std::strerror(errno));
  LogScan scan = LogReader(in, kind, each, past_faults).read();
  if (in.bad()) return base::fail(base::ErrorCode::io, "cannot read '" + file.string() + "'");
  scan.size = size;
  return scan;
}

}  // namespace

base::Result<LogScan> scan_log(const std::filesystem::path& file, LogKind kind, const EachRecord& each) {
  return read_log(file, kind, each, false);
}

base::Result<LogScan> salvage_log(const std::filesystem::path& file, LogKind kind, const EachRecord& each) {
  return read_log(file, kind, each, true);
}

}  // namespace postino::engine
