// DKIM signatures (RFC 6376) through libopendkim.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/swappable.h"

namespace postino::mail {

struct DkimOptions {
  std::string domain;
  std::string selector;
  std::string key_file;  // the private key (PEM, RSA of 1024 bits or more)
};

// Safe to use from any thread.
class DkimSigner {
 public:
  // Fails when the key cannot be read or is none.
  static base::Result<std::unique_ptr<DkimSigner>> create(const DkimOptions& options);
  ~DkimSigner();

  // From now on it signs as the other one does. Safe to call from any thread.
  void sign_as(const DkimSigner& other) { impl_.set(other.impl_.get()); }

  // The message with a DKIM-Signature header before the others: rsa-sha256, relaxed/relaxed, over the headers that
  // RFC 6376 section 5.4.1 recommends.
  base::Result<std::string> sign(std::string_view message) const;

 private:
  struct Impl;
  explicit DkimSigner(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  base::Swappable<Impl> impl_;
};

}  // namespace postino::mail
