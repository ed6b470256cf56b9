// The spool in a bucket of an object store, for several machines that share the work.
//
// An object's name is "{prefix}/2026/11/<id>-<sum and size>.json", and its path in the record of the e-mail is what
// comes after the prefix. Each e-mail's contents are written under names of their own, and nothing is overwritten.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/random.h"
#include "objects/object_store.h"
#include "outbox/ledger/kept_spool.h"

namespace postino::outbox {

class ObjectSpool final : public KeptSpool {
 public:
  // `prefix` of all names, without a slash at its end: no other outbox may have the same. `kept_for`: how long an
  // object is kept at least, by the object store's clock. Asks nothing yet. `random` must outlive it.
  ObjectSpool(std::unique_ptr<objects::ObjectStore> objects, std::string prefix, base::Milliseconds kept_for,
              base::Random& random);

  // Notes in the folder which spool is used. invalid when the folder has noted another one, or when the bucket has
  // another one in this place. While the bucket is away it is not known whether it has the spool: problem() says so,
  // and the spool is noted later.
  base::Result<void> be_noted_in(const std::filesystem::path& folder);

  std::string id() const override { return id_; }
  std::string place() const override { return address_; }

  // Whatever fails is `io`: the e-mail is not at fault.
  base::Result<std::string> write(const SpoolObject& object) override;
  // A path may also be the address of an object in the bucket, below the prefix. That there is no such object is
  // believed if the spool's own marker is there: another bucket, or one that was emptied, has lost no e-mail's contents
  // for good.
  base::Result<std::string> read_if(const std::string& path, const Admit& admit) override;
  base::Result<void> remove(const std::string& path) override;

  std::optional<std::string> problem() const override;
  void look_after_problem() override;
  // A page of objects. Their age is that of the object store; when its clock is far from ours, none is removed.
  base::Result<bool> sweep_some(base::TimePoint now, const IsNeeded& is_needed) override;
  void append_metrics(std::string& out) const override;

 private:
  std::string name_of(const std::string& path) const;
  // How large it is, without reading it.
  base::Result<std::size_t> size_of(const std::string& path) const;
  // The error of something that failed, which is noted.
  base::Error failed(const base::Error& error);
  void works();
  // Is the marker there? It is made when there was none before.
  base::Result<void> find_marker();
  base::Result<void> see_marker() const;  // is it still there?
  base::Result<std::string> read_object(const std::string& path, const Admit& admit, bool& is_out_of_reach) const;

  const std::unique_ptr<objects::ObjectStore> objects_;
  const std::string prefix_;  // with a slash at its end
  const std::string address_;
  const std::string id_;
  const base::Milliseconds kept_for_;
  base::Random& random_;
  std::mutex marker_mutex_;
  std::filesystem::path folder_;          // that notes the spool; may be empty
  bool was_used_before_ = false;          // by the note in the folder
  std::atomic<bool> has_marker_ = false;  // it was seen, or made
  mutable std::mutex mutex_;
  std::optional<std::string> failure_;  // the last one, until the bucket can be used again
  std::string swept_to_;                // the last name that was looked at
};

}  // namespace postino::outbox
