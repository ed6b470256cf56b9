// Where payloads and built messages are kept: too large for the ledger, which names them by path.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace postino::outbox {

enum class SpoolKind { payload, message };

// An object that was spooled before and stays at least as long, with much the same contents.
struct SimilarObject {
  std::string path;
  std::string_view bytes;  // valid while the other object is being spooled
};

struct SpoolObject {
  SpoolKind kind = SpoolKind::payload;
  std::string id;  // of the e-mail
  base::TimePoint created;
  std::string bytes;
  base::TimePoint keep_until;
  std::optional<SimilarObject> similar = std::nullopt;  // a spool may keep what is different alone
};

// Safe to call from any thread. Nothing that was written is ever overwritten.
class Spool {
 public:
  virtual ~Spool() = default;

  // Durable when it returns the path.
  virtual base::Result<std::string> write(const SpoolObject& object) = 0;
  // not_found when it is gone, corrupt when it is not whole.
  base::Result<std::string> read(const std::string& path) {
    return read_if(path, [](std::size_t) { return true; });
  }
  // The same when there is memory for it: `admit` is told how many bytes it is at most, before more than a small part
  // of them is read. exhausted when it says no.
  using Admit = std::function<bool(std::size_t bytes)>;
  virtual base::Result<std::string> read_if(const std::string& path, const Admit& admit) = 0;
  virtual base::Result<void> remove(const std::string& path) = 0;
};

// Reads from a second spool what the first one does not have: contents from before the first one was configured. Both
// must outlive it.
class SpoolWithFormer final : public Spool {
 public:
  SpoolWithFormer(Spool& spool, Spool& former) : spool_(spool), former_(former) {}

  base::Result<std::string> write(const SpoolObject& object) override { return spool_.write(object); }
  base::Result<std::string> read_if(const std::string& path, const Admit& admit) override;
  base::Result<void> remove(const std::string& path) override;

 private:
  Spool& spool_;
  Spool& former_;
};

// What read_if() answers when it was not admitted.
tl::unexpected<base::Error> not_admitted(const std::string& path);

// "2026/11/<id>.json" or ".eml", with something before the ending that tells it from others.
std::string spool_path(const SpoolObject& object, const std::string& distinction);
// The e-mail that a path belongs to; empty when it is no path of ours.
std::string id_in_spool_path(std::string_view path);

// Larger contents are no e-mail's, or damaged: no request is as large, and no message that is built of one.
inline constexpr std::size_t most_payload_bytes = 64 << 20;
inline constexpr std::size_t most_message_bytes = 256 << 20;

// Reads what the record of an e-mail names as its payload or message. Another program may have damaged the record, and
// must not make this one send the contents of another e-mail, or try for ever. So no path is read that is empty, or
// says that it belongs to another e-mail or is of the other kind. corrupt then, and whenever what is named cannot be
// contents, such as a directory or something that is too large; not_found when it is gone, or not in the spool.
base::Result<std::string> read_contents(Spool& spool, SpoolKind kind, const std::string& id, const std::string& path,
                                        const Spool::Admit& admit);

}  // namespace postino::outbox
