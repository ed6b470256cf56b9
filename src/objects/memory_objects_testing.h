// An object store in memory, for tests: it can fail, end, and let a test act at any of its calls.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"
#include "objects/object_store.h"

namespace postino::objects {

class MemoryObjects final : public ObjectStore {
 public:
  explicit MemoryObjects(const base::Clock& clock) : clock_(clock) {}

  enum class Fault {
    none,
    refused,       // this call is not done, and fails
    unknown,       // this call is done, and fails
    ended_before,  // from this call on nothing is done: the process has ended
    ended_after,   // the same after this call
  };
  // The put or removal with this number fails, counted from 1 and from now on.
  void fail_at(int number, Fault fault) {
    const std::lock_guard lock(mutex_);
    changes_ = 0;
    number_ = number;
    fault_ = fault;
    has_ended_ = false;
  }
  bool has_failed() const {
    const std::lock_guard lock(mutex_);
    return changes_ >= number_;
  }
  // Nothing can be read or written until it is over.
  void set_outage(bool is_out, base::ErrorCode code = base::ErrorCode::io) {
    const std::lock_guard lock(mutex_);
    is_out_ = is_out;
    code_ = code;
  }
  // Called once, before the next get.
  void meet_at_get(std::function<void()> meeting) {
    const std::lock_guard lock(mutex_);
    meeting_ = std::move(meeting);
  }

  base::Result<void> put(const std::string& name, std::string_view bytes) override {
    TRY_VOID(check_object_name(name));
    if (bytes.size() > largest_object) return base::invalid("too large");
    return change([&] { objects_.insert_or_assign(name, Kept{std::string(bytes), clock_.now()}); });
  }
  base::Result<std::string> get(const std::string& name) override {
    TRY_VOID(check_object_name(name));
    std::function<void()> meeting;
    {
      const std::lock_guard lock(mutex_);
      meeting = std::exchange(meeting_, nullptr);
    }
    if (meeting) meeting();
    const std::lock_guard lock(mutex_);
    if (is_out_ || has_ended_) return out();
    ++gets_;
    const auto found = objects_.find(name);
    if (found == objects_.end()) return base::fail(base::ErrorCode::not_found, "there is no " + name);
    return found->second.bytes;
  }
  base::Result<void> remove(const std::string& name) override {
    TRY_VOID(check_object_name(name));
    return change([&] { objects_.erase(name); });
  }
  base::Result<ObjectPage> list(const std::string& prefix, const std::string& after, int limit) override {
    const std::lock_guard lock(mutex_);
    if (is_out_ || has_ended_) return out();
    ObjectPage page{{}, false, clock_.now()};
    for (auto each = objects_.upper_bound(after); each != objects_.end(); ++each) {
      if (!each->first.starts_with(prefix)) continue;
      page.has_more = page.objects.size() == static_cast<std::size_t>(limit);
      if (page.has_more) break;
      page.objects.push_back({each->first, each->second.bytes.size(), each->second.modified});
    }
    return page;
  }
  const std::string& bucket() const override { return bucket_; }

  // The names of all objects that begin so.
  std::set<std::string> names(const std::string& prefix = "") const {
    const std::lock_guard lock(mutex_);
    std::set<std::string> names;
    for (const auto& [name, kept] : objects_)
      if (name.starts_with(prefix)) names.insert(name);
    return names;
  }
  int gets() const {
    const std::lock_guard lock(mutex_);
    return gets_;
  }

 private:
  struct Kept {
    std::string bytes;
    base::TimePoint modified;
  };

  tl::unexpected<base::Error> out() const { return base::fail(code_, "the objects cannot be used"); }

  template <class Change>
  base::Result<void> change(const Change& make) {
    const std::lock_guard lock(mutex_);
    if (is_out_ || has_ended_) return out();
    if (++changes_ != number_ || fault_ == Fault::none) {
      make();
      return {};
    }
    has_ended_ = fault_ == Fault::ended_before || fault_ == Fault::ended_after;
    if (fault_ == Fault::unknown || fault_ == Fault::ended_after) make();
    return out();
  }

  const base::Clock& clock_;
  const std::string bucket_ = "test-bucket";
  mutable std::mutex mutex_;
  std::map<std::string, Kept> objects_;
  std::function<void()> meeting_;
  bool is_out_ = false;
  base::ErrorCode code_ = base::ErrorCode::io;  // of an outage
  bool has_ended_ = false;
  int changes_ = 0;
  int number_ = 0;
  int gets_ = 0;
  Fault fault_ = Fault::none;
};

}  // namespace postino::objects
