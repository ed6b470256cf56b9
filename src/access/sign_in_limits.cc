#include "access/sign_in_limits.h"

#include <algorithm>

namespace postino::access {

// The end when it has not failed, or so long ago that it no longer counts.
std::list<SignInLimits::Failures::Entry>::iterator SignInLimits::Failures::find(const std::string& who,
                                                                                base::Milliseconds now) {
  const auto found = by_name_.find(who);
  if (found == by_name_.end()) return entries_.end();
  if (now - found->second->last < memory_) return found->second;
  entries_.erase(found->second);
  by_name_.erase(found);
  return entries_.end();
}

base::Milliseconds SignInLimits::Failures::pause(const std::string& who, base::Milliseconds now) {
  const auto entry = find(who, now);
  if (entry == entries_.end() || entry->failures < rule_.free_failures) return {};
  const int doublings = std::min(entry->failures - rule_.free_failures, 30);
  const base::Milliseconds length = std::min(rule_.longest, rule_.first * (std::int64_t{1} << doublings));
  return std::max(base::Milliseconds(0), entry->last + length - now);
}

void SignInLimits::Failures::add(const std::string& who, base::Milliseconds now) {
  const auto entry = find(who, now);
  if (entry != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, entry);
  } else {
    if (entries_.size() >= most_) {
      by_name_.erase(entries_.back().who);
      entries_.pop_back();
    }
    entries_.push_front({.who = who});
    by_name_[who] = entries_.begin();
  }
  ++entries_.front().failures;
  entries_.front().last = now;
}

void SignInLimits::Failures::forget(const std::string& who) {
  const auto found = by_name_.find(who);
  if (found == by_name_.end()) return;
  entries_.erase(found->second);
  by_name_.erase(found);
}

void SignInLimits::Failures::take_back(const std::string& who) {
  const auto found = by_name_.find(who);
  if (found == by_name_.end()) return;
  if (--found->second->failures > 0) return;
  forget(who);
}

void SignInLimits::Homes::add(const std::string& home) {
  if (const auto known = by_name_.find(home); known != by_name_.end()) {
    homes_.splice(homes_.begin(), homes_, known->second);
    return;
  }
  if (homes_.size() >= most_) {
    by_name_.erase(homes_.back());
    homes_.pop_back();
  }
  homes_.push_front(home);
  by_name_[home] = homes_.begin();
}

namespace {

// No address has a line end, and a name may have any letter: so no two have the same.
std::string home_of(const std::string& name, const std::string& address) { return address + "\n" + name; }

}  // namespace

std::optional<base::Milliseconds> SignInLimits::begin(const std::string& name, const std::string& address) {
  const std::string home = home_of(name, address);
  const std::lock_guard lock(mutex_);
  const base::Milliseconds now = clock_.monotonic();
  const bool is_at_home = homes_.contains(home);
  const base::Milliseconds pause =
      is_at_home ? at_home_.pause(home, now) : std::max(names_.pause(name, now), addresses_.pause(address, now));
  if (pause > base::Milliseconds(0)) return pause;
  if (is_at_home)
    at_home_.add(home, now);
  else
    names_.add(name, now);
  addresses_.add(address, now);
  return std::nullopt;
}

// An address is not forgiven everything for one success: the owner of an account could go on guessing others'
// passwords. At
// home a success says nothing about those who try the name elsewhere.
void SignInLimits::succeeded(const std::string& name, const std::string& address) {
  const std::string home = home_of(name, address);
  const std::lock_guard lock(mutex_);
  if (homes_.contains(home))
    at_home_.forget(home);
  else
    names_.forget(name);
  homes_.add(home);
  addresses_.take_back(address);
}

}  // namespace postino::access
