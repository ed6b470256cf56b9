// What tells others how the process is: /healthz, /readyz and /metrics.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "net/http.h"

namespace postino::app {

// Safe to use from any thread.
class Monitor {
 public:
  // Appends lines in Prometheus' text format.
  using Source = std::function<void(std::string& out)>;

  void add_source(Source source) { sources_.push_back(std::move(source)); }  // before requests come
  void set_ready(bool ready) { ready_ = ready; }

  // False when the request is none of its own.
  bool handle(const net::Request& request, const net::Responder& respond) const;

 private:
  std::vector<Source> sources_;
  std::atomic<bool> ready_ = false;
};

// Memory, descriptors, processor time and start of this process.
void append_process_metrics(std::string& out);

}  // namespace postino::app
