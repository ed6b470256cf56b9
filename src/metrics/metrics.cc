#include "metrics/metrics.h"

#include "base/metrics_text.h"
#include "metrics/metrics_table.h"

namespace postino::metrics {

namespace {

FollowerOptions following_of(const MetricsOptions& options, const Source& source, base::Random& random) {
  FollowerOptions following = options.following;
  following.keeper.table = options.table;
  following.keeper.follower = source.name;
  following.keeper.owner = base::make_uuid(random);
  following.table = source.table;
  return following;
}

template <class Value>
void append_row(std::string& out, std::string_view name, std::string_view type, std::string_view help,
                const std::vector<const Follower*>& followers, const Value& value) {
  base::append_metric_head(out, name, type, help);
  for (const Follower* const follower : followers)
    out.append(name)
        .append("{follower=\"")
        .append(follower->options().keeper.follower)
        .append("\"} ")
        .append(value(follower->counts()))
        .append("\n");
}

// How they get on.
void append_followers(std::string& out, const std::vector<const Follower*>& followers) {
  append_row(out, "postino_metrics_follows", "gauge", "Whether this process follows the changes of a table.", followers,
             [](const FollowerCounts& counts) { return std::string(counts.follows ? "1" : "0"); });
  append_row(out, "postino_metrics_lag_seconds", "gauge", "Age of the oldest change that is not handled.", followers,
             [](const FollowerCounts& counts) { return number_of_thousandths(counts.lag.count()).to_string(); });
  append_row(out, "postino_metrics_changes_total", "counter", "Changes that were handled.", followers,
             [](const FollowerCounts& counts) { return std::to_string(counts.records); });
  append_row(out, "postino_metrics_halved_total", "counter", "Batches that failed and were halved.", followers,
             [](const FollowerCounts& counts) { return std::to_string(counts.halved); });
  append_row(out, "postino_metrics_set_aside_total", "counter",
             "What was set aside: changes that could not be handled or were gone, and items that cannot be counted.",
             followers, [](const FollowerCounts& counts) { return std::to_string(counts.set_aside); });
  append_row(out, "postino_metrics_begun_total", "counter", "Times that everything was done again.", followers,
             [](const FollowerCounts& counts) { return std::to_string(counts.begun); });
  append_row(out, "postino_metrics_failures_total", "counter", "Rounds that failed and were repeated.", followers,
             [](const FollowerCounts& counts) { return std::to_string(counts.failures); });
}

}  // namespace

Metrics::Counting::Counting(store::Store& store, const Source& source, const MetricsOptions& options,
                            const base::Clock& clock, base::Random& random, const store::Retry& retry,
                            LiveFigures& live)
    : counter(
          store, source, clock, retry, [&live](const std::set<std::string>& tenants) { live.changed(tenants); },
          options.recount),
      follower(store, following_of(options, source, random), counter, clock, random, retry) {}

Metrics::Metrics(store::Store& store, MetricsOptions options, const base::Clock& clock, base::Random& random,
                 store::Retry retry)
    : store_(store),
      options_(std::move(options)),
      dashboard_(store, options_.table, options_.sources, retry),
      live_(dashboard_, options_.live),
      set_aside_(store, options_.table, retry),
      subscribers_(store, options_.table, options_.following, clock, random, retry) {
  for (const Source& source : options_.sources)
    countings_.push_back(std::make_unique<Counting>(store, source, options_, clock, random, retry, live_));
}

Metrics::~Metrics() { stop(); }

base::Result<void> Metrics::prepare() { return prepare_metrics_table(store_, options_.table); }

void Metrics::start() {
  live_.start();
  for (const auto& counting : countings_) counting->follower.start();
  subscribers_.start();
}

void Metrics::stop() {
  live_.stop();
  for (const auto& counting : countings_) counting->follower.stop();
  subscribers_.stop();
}

Follower* Metrics::follower(const std::string& source) {
  for (const auto& counting : countings_)
    if (counting->counter.source().name == source) return &counting->follower;
  return nullptr;
}

std::vector<const Follower*> Metrics::followers() const {
  std::vector<const Follower*> all;
  for (const auto& counting : countings_) all.push_back(&counting->follower);
  for (const Follower* const follower : subscribers_.followers()) all.push_back(follower);
  return all;
}

bool Metrics::count_anew(const std::string& source) {
  Follower* const counting = follower(source);
  if (counting == nullptr || !counting->counts().follows) return false;
  counting->begin_anew();
  return true;
}

base::Result<bool> Metrics::retry(const std::string& id) {
  TRY(const std::optional<SetAside> found, set_aside_.find(id));
  if (!found) return false;
  if (subscriber_of(found->follower)) {
    TRY_VOID(subscribers_.retry(*found));
    return true;
  }
  if (!count_anew(found->follower)) return base::invalid("its source is not counted now");
  return set_aside_.remove(id);
}

void Metrics::append_to(std::string& out) {
  append_followers(out, followers());
  base::append_metric(out, "postino_metrics_watchers", "gauge", "Clients that watch the figures.",
                      std::to_string(live_.watchers()));
  if (const auto figures = dashboard_.read(std::string(everybody))) append_figures(out, *figures);
}

}  // namespace postino::metrics
