#include "app/dynamodb/table_sets.h"

#include <algorithm>

#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"

namespace postino::app {

namespace {

constexpr const char* shared_name = "shared-local-instance";  // as DynamoDB Local calls its file

http::Response unavailable(const std::string& why) {
  http::Response response;
  response.status = 503;
  response.content_type = "application/x-amz-json-1.0";
  response.body = R"({"__type":"com.amazonaws.dynamodb.v20120810#ServiceUnavailable","message":")" + why + "\"}";
  return response;
}

}  // namespace

class TableSets::TableSet {
 public:
  TableSet(std::unique_ptr<engine::Engine> engine, wire::EndpointOptions options)
      : engine_(std::move(engine)), endpoint_(std::make_unique<wire::Endpoint>(*engine_, std::move(options))) {}
  ~TableSet() { close(); }
  TableSet(const TableSet&) = delete;
  TableSet& operator=(const TableSet&) = delete;

  // Answers what it has taken. In this order, see wire::Endpoint. Not for the threads that answer.
  void close() {
    endpoint_->stop();
    engine_.reset();
  }

  wire::Endpoint& endpoint() { return *endpoint_; }
  const engine::Engine& engine() const { return *engine_; }

  std::uint64_t last_use = 0;

 private:
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<wire::Endpoint> endpoint_;
};

TableSets::TableSets(TableSetOptions options) : options_(std::move(options)), nobody_(nothing_, options_.endpoint) {}

TableSets::~TableSets() {
  opener_.stop();
  nobody_.stop();
  for (const auto& [name, set] : sets_) set->close();
}

base::Result<std::unique_ptr<TableSets>> TableSets::open(TableSetOptions options) {
  std::error_code error;
  std::filesystem::create_directories(options.directory, error);
  if (error) return base::fail(base::ErrorCode::io, options.directory.string() + ": " + error.message());
  std::unique_ptr<TableSets> sets(new TableSets(std::move(options)));
  if (sets->options_.shared) TRY_VOID(sets->open_set(shared_name, sets->options_.endpoint.region));
  return sets;
}

std::string TableSets::directory_name(const wire::CallerScope& scope) {
  constexpr std::size_t longest = 200;
  // The last underscore is the one between the two.
  std::string region = base::encode_percent(scope.region);
  for (auto at = region.find('_'); at != std::string::npos; at = region.find('_')) region.replace(at, 1, "%5F");
  std::string name = base::encode_percent(scope.key) + "_" + region;
  return name.size() <= longest ? name : base::to_hex(base::sha256(name));
}

void TableSets::set_address(const std::string& address) {
  const std::lock_guard lock(mutex_);
  address_ = address;
  nobody_.set_address(address);
  for (const auto& [name, set] : sets_) set->endpoint().set_address(address);
}

TableSets::Pointer TableSets::find_open(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = sets_.find(name);
  return found == sets_.end() ? nullptr : found->second;
}

// One that no request is in; without one there are more for a while.
void TableSets::close_an_idle_one() {
  Pointer closed;
  {
    const std::lock_guard lock(mutex_);
    if (sets_.size() < options_.max_open) return;
    auto oldest = sets_.end();
    for (auto each = sets_.begin(); each != sets_.end(); ++each)
      if (each->second.use_count() == 1 && (oldest == sets_.end() || each->second->last_use < oldest->second->last_use))
        oldest = each;
    if (oldest == sets_.end()) return;
    closed = std::move(oldest->second);
    sets_.erase(oldest);
  }
  // It ends here, on the thread that opens: it is not opened again meanwhile.
}

base::Result<TableSets::Pointer> TableSets::open_set(const std::string& name, const std::string& region) {
  if (auto set = find_open(name)) return set;
  close_an_idle_one();
  engine::Options store = options_.store;
  store.directory = options_.directory / name;
  store.region = region;
  TRY(auto engine, engine::Engine::open(std::move(store)));
  wire::EndpointOptions endpoint = options_.endpoint;
  endpoint.region = region;
  auto set = std::make_shared<TableSet>(std::move(engine), std::move(endpoint));
  const std::lock_guard lock(mutex_);
  if (!address_.empty()) set->endpoint().set_address(address_);
  set->last_use = ++uses_;
  sets_.emplace(name, set);
  return set;
}

void TableSets::handle_in(const Pointer& set, const http::Request& request, const http::Responder& respond) {
  {
    const std::lock_guard lock(mutex_);
    set->last_use = ++uses_;
  }
  // The answer holds the set until it is handed in.
  set->endpoint().handle(request, [set, respond](http::Response response) { respond(std::move(response)); });
}

void TableSets::handle(const http::Request& request, http::Responder respond) {
  if (!nobody_.admits(request)) return nobody_.handle(request, std::move(respond));
  const auto scope = wire::scope_of(request);
  if (!scope) return nobody_.handle(request, std::move(respond));
  const std::string name = options_.shared ? shared_name : directory_name(*scope);
  if (const auto set = find_open(name)) return handle_in(set, request, respond);
  const bool taken = opener_.try_submit([this, &request, name, region = scope->region, respond] {
    const auto set = open_set(name, region);
    if (set) return handle_in(*set, request, respond);
    base::log_error("dynamodb", "a set of tables cannot be opened", {{"set", name}, {"error", set.error().message}});
    respond(unavailable("The tables of this access key and region cannot be opened."));
  });
  if (!taken) respond(unavailable("Too many sets of tables wait for being opened."));
}

std::optional<std::string> TableSets::problem() const {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, set] : sets_) {
    const engine::WriteHealth health = set->engine().write_health();
    if (health.refusal != engine::WriteRefusal::none) return name + ": writes are refused: " + health.reason;
  }
  return std::nullopt;
}

}  // namespace postino::app
