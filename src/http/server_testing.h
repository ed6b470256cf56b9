// Servers for tests: one that echoes, and one whose requests wait until the test answers them.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "http/server.h"

namespace postino::http {

// Answers with the request line and the body. The path /close asks for the end of the connection.
void echo(const Request& request, Responder respond);

std::unique_ptr<Server> start_server(ServerOptions options = {}, Handler handler = echo);

std::string get(const std::string& target);
std::string post(const std::string& target, const std::string& body);

// Keeps requests with their responders.
class WaitingRoom {
 public:
  struct Visitor {
    const Request* request;  // valid until answered
    Responder respond;

    void answer(std::string body) const;
  };

  Handler handler();
  // Waits for the next request.
  Visitor take();

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Visitor> visitors_;
};

}  // namespace postino::http
