// Where an outbox keeps its e-mails: a ledger and a spool, as the settings have them.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "app/server/outbox_settings.h"
#include "base/clock.h"
#include "base/pause.h"
#include "base/random.h"
#include "outbox/parts.h"
#include "store/store.h"

namespace postino::app {

// Everything in it must outlive the storage.
struct StorageContext {
  const base::Clock& clock;
  base::Random& random;
  base::Pause& pause;  // between attempts at something that is busy
};

class OutboxStorage {
 public:
  virtual ~OutboxStorage() = default;

  virtual outbox::Ledger& ledger() = 0;
  outbox::Spool& spool() { return *spool_; }
  // The spool is a part of the ledger: what goes into it costs no commit of its own.
  bool has_own_spool() const { return directory_ == nullptr; }

  // Work that comes with the time; to be called every second or so, by one thread.
  virtual void tick(base::TimePoint now);
  // What is away then is not asked again: it is time to end.
  virtual void give_up_at(std::chrono::steady_clock::time_point /*when*/) {}
  // What is wrong at the moment, if anything. Answers at once.
  virtual std::optional<std::string> problem() const { return std::nullopt; }
  virtual void append_metrics(std::string& /*out*/) const {}
  virtual std::string describe() const = 0;  // for people

 protected:
  // Takes the directory of the settings, if there is one; true then.
  base::Result<bool> use_directory(const OutboxSettings& settings, base::Random& random);
  void use_spool(std::unique_ptr<outbox::Spool> spool) { spool_ = std::move(spool); }

 private:
  std::unique_ptr<outbox::Spool> spool_;
  outbox::DirectorySpool* directory_ = nullptr;  // the spool, when it is one
  base::TimePoint next_sweep_;
};

// On a store with DynamoDB's model; creates the tables that are missing. The store must outlive it.
base::Result<std::unique_ptr<OutboxStorage>> open_store_storage(store::Store& store, const OutboxSettings& settings,
                                                                const StorageContext& context);

}  // namespace postino::app
