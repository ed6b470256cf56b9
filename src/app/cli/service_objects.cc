#include "app/cli/service_objects.h"

#include "app/server/support_service.h"
#include "base/hash.h"
#include "item/attribute_text.h"
#include "objects/directory_objects.h"
#include "objects/large_attributes.h"

namespace postino::app {

ServiceObjects::ServiceObjects(const Settings& settings)
    : table_{settings.tickets.table, {{"PK", item::Type::string}, {"SK", item::Type::string}}},
      in_directory_(settings.objects.bucket.empty()) {
  if (!in_directory_) return;
  if (auto opened =
          objects::DirectoryObjects::open_to_read(objects_directory(settings), bucket_of_directory, clock_, random_))
    objects_ = *std::move(opened);
}

engine::EachItem ServiceObjects::reader() {
  return [this](const std::string& table, const item::Item& item) {
    if (in_directory_ && table == table_.name) add(item);
  };
}

void ServiceObjects::add(const item::Item& item) {
  compare(objects::large_items_kind(), item::attribute_text(item, objects::large_data_sha256), item);
  if (const auto attachment = support::read_attachment_fields(item))
    compare(support::attachments_kind(), attachment->sha256, item);
}

void ServiceObjects::compare(const objects::ObjectKind& kind, const std::string& digest, const item::Item& item) {
  // An item of the former system names its object otherwise, and has no sum of it.
  const auto name = objects::object_of_item(kind, table_, bucket_of_directory, item);
  if (!name) return;
  const std::string whose = "object " + *name;
  if (objects_ == nullptr) return faults_.add(whose + " is missing: there is no directory of objects");
  const auto bytes = objects_->get(*name);
  if (!bytes && bytes.error().code == base::ErrorCode::not_found) return faults_.add(whose + " is missing");
  if (!bytes) return faults_.add(whose + " cannot be read: " + bytes.error().message);
  if (base::to_hex(base::sha256(*bytes)) != digest) faults_.add(whose + " is not what was written");
}

}  // namespace postino::app
