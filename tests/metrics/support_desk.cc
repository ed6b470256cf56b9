#include "support_desk.h"

#include "base/check.h"
#include "item/attribute_text.h"
#include "item/json_codec.h"
#include "metrics/figures/tally.h"
#include "metrics/metrics_table.h"
#include "store/table_setup.h"

namespace postino::metrics {

store::CreateTableRequest tickets_request(bool with_stream) {
  store::CreateTableRequest request =
      store::table_request(tickets_table, {{"PK", item::Type::string}, {"SK", item::Type::string}});
  if (with_stream)
    request.stream =
        store::StreamSpecification{.enabled = true, .view_type = store::StreamViewType::new_and_old_images};
  return request;
}

void create_desk(store::Store& store, bool with_stream) {
  CHECK(store::prepare_table(store, tickets_request(with_stream), "ttl"));
  CHECK(prepare_metrics_table(store, metrics_table));
}

void put_ticket(store::Store& store, item::Item item) {
  store::PutItemRequest request;
  request.table_name = tickets_table;
  request.item = std::move(item);
  const auto answer = store.put_item(request);
  CHECK(answer);
}

void remove_item(store::Store& store, const item::Item& item) {
  store::DeleteItemRequest request;
  request.table_name = tickets_table;
  request.key = {{"PK", *item.find("PK")}, {"SK", *item.find("SK")}};
  const auto answer = store.delete_item(request);
  CHECK(answer);
}

void change_something(store::Store& store, base::Random& random, base::TimePoint now, int tickets) {
  const std::vector<std::string> statuses = {"NEW", "PROCESSING", "READY", "FAILED", "ESCALATED", "ODD"};
  const auto choose = [&](std::size_t count) { return static_cast<std::size_t>(random.next() % count); };
  const std::string id = "t" + std::to_string(choose(static_cast<std::size_t>(tickets)));
  // A ticket has the same tenant each time.
  const std::string tenant = std::vector<std::string>{"", "acme", "bell"}[std::hash<std::string>()(id) % 3];
  const base::TimePoint then = now - std::chrono::seconds(choose(7'200));
  switch (choose(10)) {
    case 0:
      return remove_item(store, ticket_item(id, "", now, tenant));
    case 1:
    case 2:
      return put_ticket(store, feedback_item(id, now - std::chrono::seconds(choose(3)), 1 + int(choose(5))));
    case 3:
      return remove_item(store, feedback_item(id, now - std::chrono::seconds(choose(3)), 1));
    case 4:
      return put_ticket(store, event_item(id, then, "00" + std::to_string(choose(9)), statuses[choose(6)]));
    case 5:
      return put_ticket(store, ready_ticket(id, then, now, tenant));
    case 6: {
      item::Item unreadable = ticket_item(id, "", now, tenant);
      unreadable.set("status", 5);
      return put_ticket(store, choose(20) == 0 ? unreadable : ticket_item(id, "NEW", then, tenant));
    }
    default:
      return put_ticket(store, ticket_item(id, statuses[choose(6)], then, tenant));
  }
}

namespace {

std::map<std::string, std::string> without_nothing(const std::vector<item::Item>& items) {
  std::map<std::string, std::string> figures;
  for (item::Item item : items) {
    const std::string name = item::attribute_text(item, name_attribute);
    bool is_something = false;
    item::Item shown;
    for (const item::Attribute& attribute : item) {
      const auto* const number = attribute.value.get_if<item::Number>();
      if (number == nullptr || number->is_zero() || attribute.name == metrics_ttl) continue;
      shown.set(attribute.name, attribute.value);
      is_something = true;
    }
    if (is_something) figures.emplace(name, item::to_json(shown));
  }
  return figures;
}

std::vector<item::Item> items_of(store::Store& store, const std::string& table) {
  std::vector<item::Item> items;
  store::ScanRequest request;
  request.table_name = table;
  request.consistent_read = true;
  do {
    const auto page = store.scan(request);
    CHECK(page);
    items.insert(items.end(), page->items.begin(), page->items.end());
    request.exclusive_start_key = page->last_evaluated_key;
  } while (request.exclusive_start_key);
  return items;
}

}  // namespace

std::map<std::string, std::string> stored_figures(store::Store& store, const std::string& source) {
  std::vector<item::Item> items = items_of(store, metrics_table);
  std::erase_if(items, [&](const item::Item& item) { return item::attribute_text(item, source_attribute) != source; });
  return without_nothing(items);
}

std::map<std::string, std::string> true_figures(store::Store& store, const Source& source, base::TimePoint now) {
  Tally tally;
  for (const item::Item& item : items_of(store, source.table)) {
    if (!source.concerns(item)) continue;
    if (const auto counted = contribution_of(source, item)) tally.add(*counted, now);
  }
  return without_nothing(tally_items(source.name, tally));
}

FollowerOptions following_at_once(const std::string& owner) {
  FollowerOptions options;
  options.keeper.table = metrics_table;
  options.keeper.follower = "tickets";
  options.keeper.owner = owner;
  options.table = tickets_table;
  options.window = base::Milliseconds(0);
  options.poll = base::Milliseconds(0);
  options.between_beginnings = base::Milliseconds(0);
  options.pauses = {.first = base::Milliseconds(0), .longest = base::Milliseconds(0)};
  return options;
}

SupportDesk::SupportDesk(bool with_stream)
    : SupportDesk(std::make_shared<base::ManualClock>(desk_start), with_stream) {}

SupportDesk::SupportDesk(const std::shared_ptr<base::ManualClock>& time, bool with_stream)
    : EmbeddedStore(time), time_(time) {
  create_desk(engine(), with_stream);
}

void SupportDesk::pass(base::Milliseconds time) {
  constexpr base::Milliseconds step = std::chrono::hours(6);
  while (time.count() > 0) {
    time_->advance(std::min(time, step));
    time -= std::min(time, step);
    while (engine().run_maintenance_once().value_or(false)) {
    }
  }
}

std::int64_t SupportDesk::count(const std::string& figure, const std::string& tenant) {
  store::GetItemRequest request;
  request.table_name = metrics_table;
  request.key = metric_key(figure_name(tenant, figure));
  const auto answer = engine().get_item(request);
  CHECK(answer);
  if (!answer->item) return 0;
  return answer->item->find(count_attribute)->as<item::Number>().to_int64().value();
}

std::vector<SetAside> SupportDesk::set_aside() {
  SetAsideList list(engine(), metrics_table, retry());
  const auto page = list.page("", SetAsideList::largest_page);
  CHECK(page);
  return page->records;
}

Dashboard SupportDesk::dashboard() {
  return Dashboard(engine(), metrics_table, {ticket_source(tickets_table)}, retry());
}

void SupportDesk::expect_right() {
  EXPECT_EQ(stored_figures(engine()), true_figures(engine(), ticket_source(tickets_table), now()));
}

CountingProcess::CountingProcess(SupportDesk& desk, store::Store& store, FollowerOptions options,
                                 RecountOptions recount)
    : counter(store, ticket_source(tickets_table), desk.clock(), desk.retry(), {}, recount),
      follower(store, std::move(options), counter, desk.clock(), desk.random(), desk.retry()) {}

int CountingProcess::count_all() {
  constexpr int most_rounds = 10'000;
  int handled = 0;
  for (int round = 0; round < most_rounds; ++round) {
    switch (follower.run_once()) {
      case Follower::Round::handled:
        ++handled;
        break;
      case Follower::Round::waiting:
        return handled;
      case Follower::Round::standing_by:
        return handled;
      case Follower::Round::beginning:
      case Follower::Round::failed:
        break;
    }
  }
  ADD_FAILURE() << "there is no end of it";
  return handled;
}

}  // namespace postino::metrics
