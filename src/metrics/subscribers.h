// Subscribers of one's own: the changes of any table go to a webhook, to a queue, or as lines of JSON into files. Each
// has a name, under which it goes on where it was (docs/metrics.md).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "metrics/follow/follower.h"
#include "metrics/sinks/file_sink.h"
#include "metrics/sinks/queue_sink.h"
#include "metrics/sinks/webhook_sink.h"

namespace postino::metrics {

struct QueueTarget {
  broker::Broker* broker = nullptr;  // must outlive the subscribers
  std::string queue;
};

// 1 to 64 of a-z, 0-9, '-' and '_'.
bool is_subscriber_name(std::string_view name);
// Of a follower, by its name; nullopt: it is no subscriber's.
std::optional<std::string> subscriber_of(const std::string& follower);

struct SubscriberOptions {
  std::string name;   // of one subscriber alone
  std::string table;  // its stream must have new and old images; it gets one if it has none
  std::variant<FileSinkOptions, WebhookSinkOptions, QueueTarget> target;
  std::vector<std::string> left_out = {};  // begins of partition keys whose items are not for receivers: "SESSION#"
};

class Subscribers {
 public:
  // Everything given must outlive it. `metrics_table` has the checkpoints. `following`: as for Metrics.
  Subscribers(store::Store& store, std::string metrics_table, FollowerOptions following, const base::Clock& clock,
              base::Random& random, store::Retry retry)
      : store_(store),
        metrics_table_(std::move(metrics_table)),
        following_(std::move(following)),
        clock_(clock),
        random_(random),
        retry_(std::move(retry)) {}
  ~Subscribers();  // stop()

  // Before start(). invalid, with the rule.
  base::Result<void> add(const SubscriberOptions& options);

  void start();
  void stop();

  // nullptr: there is none of this name.
  Follower* follower(const std::string& name);
  // Has a change that was set aside delivered once more, soon, by the process that follows. invalid, with the reason,
  // when it cannot be: no such subscriber, or not enough of the change was kept.
  base::Result<void> retry(const SetAside& aside);
  // All of them, in the order they were added.
  std::vector<const Follower*> followers() const;

 private:
  struct Subscriber {
    std::string name;
    std::unique_ptr<AskedAgain> asked;  // unless no other process can follow
    std::unique_ptr<Delivery> delivery;
    std::unique_ptr<Follower> follower;
  };

  base::Result<std::unique_ptr<Delivery>> make_delivery(const SubscriberOptions& options);

  store::Store& store_;
  const std::string metrics_table_;
  const FollowerOptions following_;
  const base::Clock& clock_;
  base::Random& random_;
  const store::Retry retry_;
  std::vector<Subscriber> subscribers_;
};

}  // namespace postino::metrics
