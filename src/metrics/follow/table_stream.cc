#include "metrics/follow/table_stream.h"

#include "base/log.h"

namespace postino::metrics {

Outcome<void> check_stream(store::Store& store, const std::string& table, bool may_enable) {
  auto description = store.describe_table(table);
  if (!description && description.error().type == store::ErrorType::resource_not_found)
    return trouble(Trouble::absent, "there is no table " + table);
  if (!description) return temporary(description.error());
  if (!description->stream && may_enable) {
    store::UpdateTableRequest request;
    request.table_name = table;
    request.stream =
        store::StreamSpecification{.enabled = true, .view_type = store::StreamViewType::new_and_old_images};
    description = store.update_table(request);
    if (!description) return temporary(description.error());
    base::log_info("metrics", "the table has a change stream now", {{"table", table}});
  }
  if (!description->stream) return trouble(Trouble::temporary, "table " + table + " has no change stream");
  if (*description->stream != store::StreamViewType::new_and_old_images)
    return trouble(Trouble::temporary, "the change stream of table " + table + " must have NEW_AND_OLD_IMAGES");
  return {};
}

}  // namespace postino::metrics
