// A spool outside the ledger, which servers that share it look after: a directory, or a bucket of an object store.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "outbox/ledger/spool.h"

namespace postino::outbox {

// Safe to call from any thread.
class KeptSpool : public Spool {
 public:
  // By which those who share it know it again; of a directory when it was noted. And where it is, for people.
  virtual std::string id() const = 0;
  virtual std::string place() const = 0;

  // Why it takes no writes, or cannot be read, since that has failed. Answers at once.
  virtual std::optional<std::string> problem() const = 0;
  // Tries again what failed; to be called every second or so, so that the problem ends without another e-mail.
  virtual void look_after_problem() = 0;

  // Removes objects whose time is over, and that no e-mail needs any more: some of them, if there may be many. True
  // when there is more to look at. To be called by one thread, and not while the clock is doubted.
  using IsNeeded = std::function<bool(const std::string& email_id)>;
  virtual base::Result<bool> sweep_some(base::TimePoint now, const IsNeeded& is_needed) = 0;

  virtual void append_metrics(std::string& out) const = 0;

 protected:
  static void append_refusal(std::string& out, bool is_refusing);
};

// In a spool, with an id by which it is known again.
inline constexpr const char* spool_marker = "POSTINO-SPOOL";
// In the folder of a server that notes which spool it uses: the same id.
inline constexpr const char* noted_spool = "SPOOL";
inline constexpr std::size_t spool_id_size = 36;

// The folder notes no spool any more, if this is the one that it has noted.
base::Result<void> forget_noted_spool(const std::filesystem::path& folder, const std::string& id);

}  // namespace postino::outbox
