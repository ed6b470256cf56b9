#include "metrics/subscribers.h"

#include <algorithm>

namespace postino::metrics {

namespace {

// Where its checkpoint is: no source of the metrics is called so.
constexpr std::string_view subscriber_begin = "subscriber#";
std::string follower_name(const std::string& name) { return std::string(subscriber_begin) + name; }

}  // namespace

bool is_subscriber_name(std::string_view name) {
  constexpr std::size_t longest = 64;
  return !name.empty() && name.size() <= longest && std::ranges::all_of(name, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-' || letter == '_';
  });
}

std::optional<std::string> subscriber_of(const std::string& follower) {
  if (!follower.starts_with(subscriber_begin)) return std::nullopt;
  return follower.substr(subscriber_begin.size());
}

Subscribers::~Subscribers() { stop(); }

base::Result<std::unique_ptr<Delivery>> Subscribers::make_delivery(const SubscriberOptions& options) {
  if (const auto* const file = std::get_if<FileSinkOptions>(&options.target)) {
    if (file->directory.empty()) return base::invalid("directory must be given");
    FileSinkOptions given = *file;
    if (given.name.empty()) given.name = options.name;
    if (!is_subscriber_name(given.name)) return base::invalid("name of the files must be 1 to 64 of a-z, 0-9, - and _");
    return std::make_unique<FileSink>(options.table, clock_, std::move(given));
  }
  if (const auto* const webhook = std::get_if<WebhookSinkOptions>(&options.target)) {
    TRY(std::unique_ptr<WebhookSink> sink, WebhookSink::create(options.table, clock_, *webhook));
    return std::unique_ptr<Delivery>(std::move(sink));
  }
  const auto& queue = std::get<QueueTarget>(options.target);
  if (queue.broker == nullptr || queue.queue.empty()) return base::invalid("queue must be given");
  return std::make_unique<QueueSink>(options.table, clock_, *queue.broker, queue.queue);
}

base::Result<void> Subscribers::add(const SubscriberOptions& options) {
  if (!is_subscriber_name(options.name)) return base::invalid("name must be 1 to 64 of a-z, 0-9, - and _");
  if (follower(options.name) != nullptr) return base::invalid("name must be of one subscriber alone");
  if (options.table.empty()) return base::invalid("table must be given");
  // Its own checkpoints would be changes again, without end.
  if (options.table == metrics_table_) return base::invalid("table must not be that of the metrics");
  Subscriber subscriber{.name = options.name, .asked = nullptr, .delivery = nullptr, .follower = nullptr};
  TRY(subscriber.delivery, make_delivery(options));
  subscriber.delivery->leave_out(options.left_out);
  if (!following_.keeper.alone) {
    subscriber.asked = std::make_unique<AskedAgain>(store_, metrics_table_, follower_name(options.name), retry_);
    subscriber.delivery->listen_to(*subscriber.asked);
  }
  FollowerOptions following = following_;
  following.keeper.table = metrics_table_;
  following.keeper.follower = follower_name(options.name);
  following.keeper.owner = base::make_uuid(random_);
  following.table = options.table;
  subscriber.follower =
      std::make_unique<Follower>(store_, std::move(following), *subscriber.delivery, clock_, random_, retry_);
  subscribers_.push_back(std::move(subscriber));
  return {};
}

void Subscribers::start() {
  for (const Subscriber& subscriber : subscribers_) subscriber.follower->start();
}

void Subscribers::stop() {
  for (const Subscriber& subscriber : subscribers_) subscriber.follower->stop();
}

Follower* Subscribers::follower(const std::string& name) {
  const auto found = std::ranges::find(subscribers_, name, &Subscriber::name);
  return found != subscribers_.end() ? found->follower.get() : nullptr;
}

base::Result<void> Subscribers::retry(const SetAside& aside) {
  const std::optional<std::string> name = subscriber_of(aside.follower);
  const auto found = std::ranges::find(subscribers_, name.value_or(""), &Subscriber::name);
  if (found == subscribers_.end()) return base::invalid("there is no such subscriber any more");
  if (!record_of(aside)) return base::invalid("the change itself was not kept");
  Delivery& delivery = *found->delivery;
  if (found->asked) {
    TRY_VOID(found->asked->ask(aside.id));
    // If it is this process that follows, it need not wait for its next look.
    if (found->follower->counts().follows)
      (void)found->follower->ask([&delivery](CheckpointKeeper& keeper) { return delivery.deliver_asked(keeper); });
    return {};
  }
  if (!found->follower->ask(
          [&delivery, aside](CheckpointKeeper& keeper) { return delivery.deliver_again(aside, keeper); }))
    return base::fail(base::ErrorCode::exhausted, "too many changes wait to be delivered again");
  return {};
}

std::vector<const Follower*> Subscribers::followers() const {
  std::vector<const Follower*> followers;
  for (const Subscriber& subscriber : subscribers_) followers.push_back(subscriber.follower.get());
  return followers;
}

}  // namespace postino::metrics
