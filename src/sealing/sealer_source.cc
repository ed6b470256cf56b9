#include "sealing/sealer_source.h"

#include "base/log.h"
#include "sealing/key_file.h"

namespace postino::sealing {

// Under the lock. nullptr when there is no file.
base::Result<std::shared_ptr<const Sealer>> SealerSource::read() {
  if (sealer_) return sealer_;
  const auto keys = read_key_file(file_);
  if (!keys && keys.error().code == base::ErrorCode::not_found) return nullptr;
  if (!keys) return base::propagate(keys.error());
  if (is_open_to_others(file_))
    base::log_warning("keys", "other users of this machine may read the sealing key", {{"file", file_.string()}});
  sealer_ = std::make_shared<const Sealer>(*keys, random_);
  return sealer_;
}

base::Result<std::shared_ptr<const Sealer>> SealerSource::for_opening() {
  const std::lock_guard lock(mutex_);
  return read();
}

base::Result<std::shared_ptr<const Sealer>> SealerSource::for_sealing() {
  const std::lock_guard lock(mutex_);
  TRY(const std::shared_ptr<const Sealer> found, read());
  if (found) return found;
  if (!may_make_)
    return base::fail(base::ErrorCode::conflict,
                      "there is no sealing key '" + file_.string() +
                          "': make one with 'openssl rand -hex 32', and give it to every server of this store");
  TRY(const std::vector<std::string> keys, make_key_file(file_, random_));
  sealer_ = std::make_shared<const Sealer>(keys, random_);
  base::log_info("keys", "made a sealing key", {{"file", file_.string()}, {"name", sealer_->key_name()}});
  return sealer_;
}

}  // namespace postino::sealing
