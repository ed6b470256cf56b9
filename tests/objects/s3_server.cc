#include "s3_server.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "base/check.h"
#include "base/many_threads_testing.h"
#include "http/client.h"

namespace postino::objects {

S3Server::S3Server(const std::vector<std::string>& arguments) {
  // Debian's own Python: the packages come from there, whatever else is on the path.
  std::vector<std::string> words = {"/usr/bin/python3", "-B", S3_SERVER};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> raw;
  for (const std::string& word : words) raw.push_back(const_cast<char*>(word.c_str()));
  raw.push_back(nullptr);
  int ends[2];
  CHECK(::pipe(ends) == 0);
  process_ = ::fork();
  CHECK(process_ >= 0);
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execv(raw.front(), raw.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  std::FILE* const output = ::fdopen(ends[0], "r");
  int port = 0, control_port = 0;
  CHECK(output != nullptr && std::fscanf(output, "%d %d", &port, &control_port) == 2);
  std::fclose(output);
  port_ = static_cast<std::uint16_t>(port);
  control_port_ = static_cast<std::uint16_t>(control_port);
}

S3Server::~S3Server() { kill(); }

void S3Server::kill() {
  if (process_ == 0) return;
  ::kill(process_, SIGKILL);
  int status = 0;
  CHECK(::waitpid(process_, &status, 0) == process_);
  process_ = 0;
}

net::Url S3Server::url(bool secure) const {
  return net::Url::parse((secure ? "https://localhost:" : "http://127.0.0.1:") + std::to_string(port_)).value();
}

std::string S3Server::control(const std::string& method, const std::string& body) const {
  const auto client = http::Client::create({.allow_private_addresses = true});
  CHECK(client.has_value());
  http::ClientRequest request{
      method, net::Url::parse("http://127.0.0.1:" + std::to_string(control_port_) + "/").value(), {}, body};
  const auto answer = (*client)->send(request, net::deadline_in(base::test_patience));
  CHECK(answer.has_value() && answer->status == 200);
  return answer->body;
}

void S3Server::instruct(const std::string& json) const { control("POST", json); }

int S3Server::requests() const { return std::stoi(control("GET", "")); }

}  // namespace postino::objects
