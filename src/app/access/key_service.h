// The keys in the store of a server: their table, who seals them, and who knows them.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "access/key_ring.h"
#include "app/settings/settings.h"
#include "base/random.h"
#include "base/this_thread.h"
#include "sealing/sealer_source.h"
#include "store/store.h"
#include "wire/endpoint.h"

namespace postino::app {

class KeyService {
 public:
  // Makes the table, unless it is there, and reads the keys. The settings are some with keys in the store; store, clock
  // and audit must outlive it, and the audit may be null.
  static base::Result<std::unique_ptr<KeyService>> create(store::Store& store, const Settings& settings,
                                                          const base::Clock& clock, access::Audit* audit);

  access::KeyRing& ring() { return *ring_; }

 private:
  KeyService(store::Store& store, const Settings& settings, const base::Clock& clock);

  base::SystemRandom random_;
  base::Pause pause_;
  sealing::SealerSource sealing_;
  access::KeyStore keys_;
  std::unique_ptr<access::KeyRing> ring_;
};

// The access keys of the store that are not disabled, with what they may do.
std::vector<wire::AccessKey> access_keys_of(const access::KnownKeys& known, const std::string& account);

// Fails when an address can be reached from other machines, and there is no key: with how to make one.
base::Result<void> check_addresses(const Settings& settings, const access::KnownKeys& known);

}  // namespace postino::app
