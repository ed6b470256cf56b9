#include "app/dynamodb/serve_dynamodb.h"

#include <csignal>
#include <optional>

#include "app/console/signals.h"
#include "app/dynamodb/table_sets.h"
#include "app/server/memory_limits.h"
#include "app/server/monitor.h"
#include "app/server/program_pages.h"
#include "base/log.h"
#include "base/temporary_directory.h"
#include "http/server.h"
#include "net/address.h"
#include "net/descriptor_limit.h"
#include "net/service_notification.h"

namespace postino::app {

namespace {

constexpr std::chrono::seconds grace{5};  // for requests that have begun

// Many sets may be open at a time, so each has little of its own.
engine::Options store_options(const LocalDynamodb& local) {
  engine::Options options;
  if (local.in_memory) options.durability = engine::Durability::relaxed;
  options.realistic_timing = local.delays_states;
  if (local.shared) return options;
  options.block_cache_bytes = 8 << 20;
  options.memtable_bytes = 4 << 20;
  options.all_memtables_bytes = 8 << 20;
  return options;
}

wire::EndpointOptions endpoint_options(const LocalDynamodb& local, const MemoryLimits& memory) {
  wire::EndpointOptions options;
  options.access_keys = local.keys;
  options.origin_policy = http::OriginPolicy({.origins = local.origins});
  options.answers = memory.answers;
  options.reading = memory.reading;
  if (!local.shared) options.long_call_threads = 1;  // of each set
  return options;
}

// Who may read /metrics: with keys everybody, as for `serve`; else those who may call.
std::shared_ptr<const api::Access> metrics_readers(const LocalDynamodb& local) {
  if (!local.keys.empty()) return nullptr;
  return std::make_shared<api::Access>(std::vector<api::ApiKey>(), http::OriginPolicy({.origins = local.origins}));
}

void announce(std::ostream& out, const LocalDynamodb& local, const std::string& url) {
  out << "DynamoDB API: " << url << "\n"
      << "Data: " << (local.in_memory ? "until the server ends" : "in " + local.directory.string()) << "; "
      << (local.shared ? "one set of tables for all" : "tables of its own for each region and access key") << "\n"
      << "Health: " << url << "/healthz  Metrics: " << url << "/metrics\n"
      << std::flush;
}

}  // namespace

base::Result<void> serve_dynamodb(const LocalDynamodb& local, std::ostream& out) {
  std::signal(SIGPIPE, SIG_IGN);  // the reader of our output may go away
  Signals signals;
  net::raise_descriptor_limit();
  std::optional<base::TemporaryDirectory> temporary;
  if (local.in_memory) temporary.emplace();
  const MemoryLimits memory;
  TRY(const auto sets, TableSets::open({.directory = temporary ? temporary->path() : local.directory,
                                        .shared = local.shared,
                                        .store = store_options(local),
                                        .endpoint = endpoint_options(local, memory)}));
  Monitor monitor(metrics_readers(local));
  monitor.add_check([&] { return sets->problem(); });
  monitor.add_source(append_process_metrics);

  http::ServerOptions options;
  options.address = local.host;
  options.port = local.port;
  options.answers = memory.answers;
  options.refuse_early = [&](const http::Request& request) { return sets->refuse_early(request); };
  TRY(const auto server,
      http::Server::start(std::move(options), [&](const http::Request& request, http::Responder respond) {
        if (!monitor.handle(request, respond)) sets->handle(request, std::move(respond));
      }));
  const net::Address address{local.host, server->port()};
  sets->set_address(address.text());
  monitor.set_ready(true);
  announce(out, local, "http://" + address.text());
  base::log_info("dynamodb", "ready", {{"dynamodb", address.text()}});
  net::notify_service_manager("READY=1");
  give_back_program_pages();

  while (signals.wait() == Signals::Order::reload) base::log_warning("dynamodb", "there is nothing to read again");
  signals.release();
  monitor.set_ready(false);
  net::notify_service_manager("STOPPING=1");
  server->stop(grace);
  monitor.stop();
  return {};
}

}  // namespace postino::app
