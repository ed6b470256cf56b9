// The shares of the addresses that have connections. Of IPv6, a client has as many addresses as it likes: those that
// only differ after the first 64 bits have one share.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "http/body_budget.h"
#include "net/address.h"

namespace postino::http {

// Safe to use from any thread.
class AddressShares {
 public:
  // The one that all connections of the address have, as long as there are any.
  std::shared_ptr<AddressShare> of(const std::string& address) {
    const std::lock_guard lock(mutex_);
    if (shares_.size() >= next_cleaning_) {
      std::erase_if(shares_, [](const auto& entry) { return entry.second.expired(); });
      next_cleaning_ = 2 * shares_.size() + least_cleaning;
    }
    std::weak_ptr<AddressShare>& known = shares_[net::network_of(address)];
    std::shared_ptr<AddressShare> share = known.lock();
    if (!share) known = share = std::make_shared<AddressShare>();
    return share;
  }

 private:
  static constexpr std::size_t least_cleaning = 1'024;

  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<AddressShare>> shares_;
  std::size_t next_cleaning_ = least_cleaning;
};

}  // namespace postino::http
