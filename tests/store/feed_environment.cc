#include "feed_environment.h"

#include "base/check.h"
#include "item/attribute_text.h"
#include "store/table_setup.h"

namespace postino::store {

FeedEnvironment::FeedEnvironment() : FeedEnvironment(std::make_shared<base::ManualClock>(engine::embedded_start)) {}

FeedEnvironment::FeedEnvironment(const std::shared_ptr<base::ManualClock>& time) : EmbeddedStore(time), time_(time) {
  CreateTableRequest request = table_request(feed_table, {{"id", item::Type::string}});
  request.stream = StreamSpecification{.enabled = true, .view_type = StreamViewType::keys_only};
  CHECK(engine().create_table(request));
}

void FeedEnvironment::put(const std::string& id) {
  PutItemRequest request;
  request.table_name = feed_table;
  // Different each time: what changes nothing is no change.
  request.item = {{"id", id}, {"random", base::make_uuid(random())}};
  CHECK(engine().put_item(request));
}

void FeedEnvironment::set_stream(bool enabled) {
  time_->advance(std::chrono::seconds(1));  // streams are named after their time
  UpdateTableRequest request;
  request.table_name = feed_table;
  request.stream = StreamSpecification{.enabled = enabled, .view_type = std::nullopt};
  if (enabled) request.stream->view_type = StreamViewType::keys_only;
  CHECK(engine().update_table(request));
}

void FeedEnvironment::end_stream() { set_stream(false); }
void FeedEnvironment::begin_stream() { set_stream(true); }

void FeedEnvironment::pass(base::Milliseconds time) {
  constexpr base::Milliseconds step = std::chrono::hours(6);
  while (time.count() > 0) {
    time_->advance(std::min(time, step));
    time -= std::min(time, step);
    while (engine().run_maintenance_once().value_or(false)) {
    }
  }
}

std::vector<std::string> ids_of(const std::vector<StreamRecord>& records) {
  std::vector<std::string> ids;
  for (const StreamRecord& record : records) ids.push_back(item::attribute_text(record.keys, "id"));
  return ids;
}

}  // namespace postino::store
