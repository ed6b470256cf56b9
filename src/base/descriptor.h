// A file descriptor with an owner.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace postino::base {

// Does the error of a call on a descriptor say that the same call may succeed later?
inline bool is_temporary(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

// Closes the descriptor at its end.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      number_ = other.release();
    }
    return *this;
  }

  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }  // -1: there is none
  int release() { return std::exchange(number_, -1); }
  void reset() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

}  // namespace postino::base
