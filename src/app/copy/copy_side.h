// One of the two sides of a copy: the embedded store in a data directory, DynamoDB, or a database.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "app/server/outbox_storage.h"
#include "app/server/server_lock.h"
#include "app/settings/settings.h"
#include "app/store/open_store.h"
#include "engine/engine.h"
#include "transfer/patient_store.h"

namespace postino::app {

enum class CopyPlace { embedded, dynamodb, mysql };

// "store" is another name of the embedded store.
std::optional<CopyPlace> copy_place(std::string_view name);

enum class CopyRole { source, target };

// What both sides use. It must outlive them.
struct CopyTools {
  explicit CopyTools(const Settings& settings) : policy(outbox_policy(settings.outbox)) {}

  const outbox::Policy policy;
  const base::SystemClock clock;
  base::SystemRandom random;
  base::Pause pause;
  // Told why a store is waited for; by any thread.
  std::function<void(const std::string& cause)> tell;
  // Those of a store over HTTP, for buckets where the settings have none; null before it was opened.
  std::shared_ptr<signature::KeySource> keys;

  store::Retry retry() {
    return {random, [this](base::Milliseconds delay) { pause.wait(delay); }};
  }
};

class CopySide {
 public:
  // Nothing expires while it is open. An embedded store that is to be read must be there; conflict when a server uses
  // what is opened, as far as that can be found out now: not for DynamoDB.
  static base::Result<std::unique_ptr<CopySide>> open(CopyPlace place, CopyRole role, const Settings& settings,
                                                      CopyTools& tools);

  // Has the source the e-mails of an outbox? not_found, with words for people, when it has not: it is probably another
  // one than was meant. With `emails_elsewhere` any table of the services will do.
  base::Result<void> check_source(bool emails_elsewhere);

  // nullptr for a database.
  store::Store* store() { return store_; }
  // Whatever it is. A target gets the tables that it lacks.
  base::Result<OutboxStorage*> outbox();

  CopyPlace place() const { return place_; }
  // As those of a server that has its data here.
  const Settings& settings() const { return settings_; }
  std::string describe() const;  // for people

  // Does it look as if a server used it at this moment? Only of DynamoDB, and not every server can be noticed.
  base::Result<std::optional<std::string>> sign_of_a_server();

 private:
  CopySide(CopyPlace place, CopyRole role, Settings settings, CopyTools& tools)
      : place_(place), role_(role), settings_(std::move(settings)), tools_(tools) {}

  base::Result<void> open_embedded();
  base::Result<void> open_dynamodb();
  base::Result<void> begin_tables();

  const CopyPlace place_;
  const CopyRole role_;
  const Settings settings_;
  CopyTools& tools_;
  // In the order they are built; each may use those above it.
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<OpenStore> remote_;
  std::unique_ptr<transfer::PatientStore> patient_;
  store::Store* store_ = nullptr;
  std::unique_ptr<OutboxStorage> outbox_;
  std::unique_ptr<ServerLock> lock_;  // of the database: no server starts on it meanwhile
};

}  // namespace postino::app
