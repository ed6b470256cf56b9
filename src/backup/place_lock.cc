#include "backup/place_lock.h"

#include <utility>

#include "base/timestamp.h"

namespace postino::backup {

namespace {

constexpr base::Milliseconds renewal_pause = std::chrono::seconds(30);
constexpr base::Milliseconds lock_life = std::chrono::minutes(3);

}  // namespace

base::Result<PlaceLock> PlaceLock::take(Place& place, const std::string& what, const std::string& owner,
                                        const base::Clock& clock, base::Random& random) {
  const std::string id = base::make_uuid(random);
  PlaceLock lock(place, clock, std::string(locks_folder) + id, owner + "\n" + what + "\n");
  TRY_VOID(place.put(lock.name_, lock.text_));
  TRY(const Place::Listing listing, place.list(locks_folder));
  for (const objects::ObjectInfo& object : listing.objects) {
    if (object.name == id) continue;
    const std::string other = std::string(locks_folder) + object.name;
    const auto text = place.get(other);
    if (!text && text.error().code == base::ErrorCode::not_found) continue;  // it was given up meanwhile
    if (!text) return base::propagate(text.error());
    const std::size_t end = std::min(text->find('\n'), text->size());
    if (text->substr(0, end) == owner || object.modified + lock_life < listing.now) {
      TRY_VOID(place.remove(other));
      continue;
    }
    std::string doing = text->substr(std::min(end + 1, text->size()));
    while (doing.ends_with('\n')) doing.pop_back();
    return base::fail(base::ErrorCode::conflict, "the place of the backups is in use: " + doing + " (since " +
                                                     base::format_timestamp(object.modified) + " or before)");
  }
  return lock;
}

PlaceLock::PlaceLock(PlaceLock&& other) noexcept
    : place_(std::exchange(other.place_, nullptr)),
      clock_(other.clock_),
      name_(other.name_),
      text_(other.text_),
      renewed_(other.renewed_) {}

PlaceLock::~PlaceLock() {
  if (place_ != nullptr) static_cast<void>(place_->remove(name_));
}

base::Result<void> PlaceLock::renew() {
  const base::Milliseconds now = clock_.monotonic();
  if (now - renewed_ < renewal_pause) return {};
  const auto text = place_->get(name_);
  if (!text && text.error().code == base::ErrorCode::not_found)
    return base::fail(base::ErrorCode::conflict, "another process has taken over the place of the backups");
  if (!text) return base::propagate(text.error());
  TRY_VOID(place_->put(name_, text_));
  renewed_ = now;
  return {};
}

}  // namespace postino::backup
