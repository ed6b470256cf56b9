// The sets of tables of a server that stands for DynamoDB Local: one for each region and access key, or one for all.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/thread_pool.h"
#include "engine/engine.h"
#include "http/message.h"
#include "store/empty_store.h"
#include "wire/caller_scope.h"
#include "wire/endpoint.h"

namespace postino::app {

struct TableSetOptions {
  std::filesystem::path directory;  // every set is a store in a directory of its own below it
  bool shared = false;              // one set for all
  engine::Options store;            // but for its directory and its region
  wire::EndpointOptions endpoint;   // but for its region
  std::size_t max_open = 32;        // sets at a time; others are closed, and opened again when they are asked for
};

// Safe to use from any thread. Ends when the server that calls handle() has stopped.
class TableSets {
 public:
  // With the shared set open, if there is one: fails when that cannot be.
  static base::Result<std::unique_ptr<TableSets>> open(TableSetOptions options);
  ~TableSets();

  // For an http::Server.
  void handle(const http::Request& request, http::Responder respond);
  std::optional<http::Response> refuse_early(const http::Request& request) { return nobody_.refuse_early(request); }

  void set_address(const std::string& address);

  // Why writes are refused at the moment, if they are.
  std::optional<std::string> problem() const;

  // Where the set of a caller is, below the directory.
  static std::string directory_name(const wire::CallerScope& scope);

 private:
  class TableSet;
  using Pointer = std::shared_ptr<TableSet>;

  explicit TableSets(TableSetOptions options);
  // Those that are open already; nullptr for others.
  Pointer find_open(const std::string& name) const;
  base::Result<Pointer> open_set(const std::string& name, const std::string& region);
  void close_an_idle_one();
  void handle_in(const Pointer& set, const http::Request& request, const http::Responder& respond);

  const TableSetOptions options_;
  store::EmptyStore nothing_;
  wire::Endpoint nobody_;  // answers what asks no store: health, callers who are refused, calls that are none
  mutable std::mutex mutex_;
  std::string address_;
  std::uint64_t uses_ = 0;
  std::map<std::string, Pointer> sets_;  // that are open
  base::ThreadPool opener_{1, 1'000};    // opening takes its time
};

}  // namespace postino::app
