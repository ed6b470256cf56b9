// The support desk put together: the table, the object store with its upkeep, and e-mails by way of the outbox.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/settings/settings.h"
#include "base/plausible_clock.h"
#include "net/shutdown_deadline.h"
#include "outbox/outbox.h"
#include "signature/key_source.h"
#include "store/store.h"
#include "support/support_desk.h"

namespace postino::app {

class SupportService {
 public:
  // Prepares the table and the object store; nothing runs yet. What is given must outlive it. `keys` are for a bucket,
  // where the settings have none; they may be null. No call to a remote object store outlasts the shutdown deadline.
  static base::Result<std::unique_ptr<SupportService>> create(
      store::Store& store, outbox::Outbox& outbox, const Settings& settings, const base::Clock& clock,
      std::shared_ptr<signature::KeySource> keys, std::shared_ptr<const net::ShutdownDeadline> shutdown_deadline);
  ~SupportService();

  support::SupportDesk& desk();
  void start();
  // Finishes what is under way. It cannot be started again.
  void stop();

  // What does not work, though tickets are taken: the object store. Answers at once.
  std::optional<std::string> trouble() const;
  void append_metrics(std::string& out) const;

 private:
  struct Parts;
  explicit SupportService(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// Where attachments are, unless they are in a bucket, and what the addresses of these objects have in the place of one.
inline constexpr const char* bucket_of_directory = "postino";
std::filesystem::path objects_directory(const Settings& settings);
// After a start that failed: takes back the directory if there is nothing in it.
void remove_empty_objects(const Settings& settings);

}  // namespace postino::app
