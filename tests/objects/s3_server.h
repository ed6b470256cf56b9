// A small object store that speaks S3's protocol, for tests: a process of its own, written in Python. It checks every
// signature with the code of Amazon's own client.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "net/url.h"

namespace postino::objects {

class S3Server {
 public:
  // Started by the constructor, killed by the destructor. Ends the process when it does not start.
  explicit S3Server(const std::vector<std::string>& arguments = {});
  ~S3Server();
  S3Server(const S3Server&) = delete;
  S3Server& operator=(const S3Server&) = delete;

  std::uint16_t port() const { return port_; }
  net::Url url(bool secure = false) const;
  void kill();

  // Tells it how to treat what comes next: JSON, see s3_server.py.
  void instruct(const std::string& json) const;
  // How many requests it has had, but for instructions.
  int requests() const;

 private:
  std::string control(const std::string& method, const std::string& body) const;

  pid_t process_ = 0;
  std::uint16_t port_ = 0;
  std::uint16_t control_port_ = 0;
};

}  // namespace postino::objects
