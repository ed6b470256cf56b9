// What happened at the database, for /metrics.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "mysql/error.h"

namespace postino::mysql {

// Safe to use from any thread.
class Statistics {
 public:
  void repeated(const Error& error);  // something is done once more because of it
  void given_up() { ++given_up_; }    // after the last attempt
  void connected() { ++connected_; }
  void found_broken() { ++found_broken_; }
  void waited() { ++waited_; }          // for a connection of the pool
  void found_none() { ++found_none_; }  // and got none

  std::uint64_t repeats() const;               // all
  std::uint64_t repeats(unsigned code) const;  // of an error number
  std::uint64_t deadlocks() const { return repeats(deadlock_code); }
  std::uint64_t surrenders() const { return given_up_; }
  std::uint64_t connections() const { return connected_; }
  std::uint64_t broken_connections() const { return found_broken_; }
  std::uint64_t waits() const { return waited_; }
  std::uint64_t vain_waits() const { return found_none_; }

  // Appends them in Prometheus' text format.
  void append_to(std::string& out) const;

 private:
  mutable std::mutex mutex_;
  std::map<unsigned, std::uint64_t> repeats_;  // by error number
  std::atomic<std::uint64_t> given_up_ = 0;
  std::atomic<std::uint64_t> connected_ = 0;
  std::atomic<std::uint64_t> found_broken_ = 0;
  std::atomic<std::uint64_t> waited_ = 0;
  std::atomic<std::uint64_t> found_none_ = 0;
};

}  // namespace postino::mysql
