#include "objects/object_cleaner.h"

#include "base/log.h"
#include "item/json_codec.h"
#include "store/place_form.h"
#include "store/retry.h"

namespace postino::objects {

namespace {

constexpr int most_changes = 100;

base::Error told_by_store(const store::Error& error) { return store::as_error(error); }

}  // namespace

ObjectCleaner::ObjectCleaner(store::Store& store, ObjectStore& objects, KeyedTable table, std::vector<ObjectKind> kinds,
                             const base::Clock& clock, CleanerOptions options)
    : store_(store),
      objects_(objects),
      table_(std::move(table)),
      kinds_(std::move(kinds)),
      clock_(clock),
      options_(options),
      feed_(store, table_.name, note_, clock, options.position_pause, options.lease),
      next_sweep_(clock.monotonic()) {}

ObjectCleaner::~ObjectCleaner() = default;

base::Result<std::string> ObjectCleaner::table_id() {
  const auto description = store_.describe_table(table_.name);
  if (!description) return base::propagate(told_by_store(description.error()));
  return description->id;
}

base::Result<std::string> ObjectCleaner::ObjectNote::name() const {
  TRY(const std::string id, cleaner_.table_id());
  return "positions/" + cleaner_.table_.name + "/" + id;
}

base::Result<std::optional<store::StreamPlace>> ObjectCleaner::ObjectNote::read() {
  TRY(const std::string place_name, name());
  const auto text = cleaner_.objects_.get(place_name);
  if (!text && text.error().code == base::ErrorCode::not_found) return std::nullopt;
  if (!text) return base::propagate(text.error());
  return store::place_in_text(*text);
}

base::Result<void> ObjectCleaner::ObjectNote::write(const store::StreamPlace& place) {
  TRY(const std::string place_name, name());
  return cleaner_.objects_.put(place_name, store::text_of_place(place));
}

base::Result<int> ObjectCleaner::follow_once(base::Milliseconds patience) {
  const auto changes = feed_.next(most_changes, patience);
  // Without a stream, sweeps find everything.
  if (!changes && changes.error().code == base::ErrorCode::not_found) return 0;
  if (!changes) return base::propagate(changes.error());
  if (!changes->missed.empty() && changes->missed != store::no_place_noted) {
    base::log_warning("objects", "changes were missed: objects of theirs are found by age",
                      {{"table", table_.name}, {"cause", changes->missed}});
    ++counts_.gaps;
  }
  for (const store::StreamRecord& record : changes->records) {
    if (auto looked = look_at(record); !looked && looked.error().code == base::ErrorCode::invalid) {
      // Trying again would not help, and the changes behind it must not wait for it.
      base::log_warning(
          "objects", "the object of a change is not cleaned up",
          {{"table", table_.name}, {"keys", item::to_json(record.keys)}, {"cause", looked.error().message}});
    } else if (!looked) {
      feed_.drop();  // the next one begins with this change
      return base::propagate(std::move(looked).error());
    }
    feed_.done(record);
  }
  TRY_VOID(feed_.note_in_time());
  return static_cast<int>(changes->records.size());
}

base::Result<void> ObjectCleaner::save_position() { return feed_.note(); }

base::Result<void> ObjectCleaner::look_at(const store::StreamRecord& record) {
  if (!record.old_image) return {};
  for (const ObjectKind& kind : kinds_) {
    const auto before = object_of_item(kind, table_, objects_.bucket(), *record.old_image);
    if (!before) continue;
    const auto after =
        record.new_image ? object_of_item(kind, table_, objects_.bucket(), *record.new_image) : std::nullopt;
    if (before == after) continue;
    // Another program may have put back an item that it had read before.
    TRY(const bool is_needed, is_referred_to(kind, record.keys, *before));
    if (is_needed) continue;
    TRY_VOID(objects_.remove(*before));
    ++counts_.removed;
  }
  return {};
}

base::Result<bool> ObjectCleaner::is_referred_to(const ObjectKind& kind, const item::Key& owner,
                                                 const std::string& name) {
  store::GetItemRequest request;
  request.table_name = table_.name;
  request.key = owner;
  request.consistent_read = true;
  const auto found = store_.get_item(request);
  if (!found) return base::propagate(told_by_store(found.error()));
  return found->item && object_of_item(kind, table_, objects_.bucket(), *found->item) == name;
}

base::Result<void> ObjectCleaner::check_ownership() {
  TRY(const std::string id, table_id());
  const std::string note = "owners/" + table_.name;
  auto noted = objects_.get(note);
  if (!noted && noted.error().code == base::ErrorCode::not_found) {
    TRY_VOID(objects_.put(note, id));
    noted = objects_.get(note);  // another process may have done the same
  }
  if (!noted) return base::propagate(noted.error());
  if (*noted == id) return {};
  return base::fail(base::ErrorCode::conflict,
                    "the objects of the table " + table_.name + " in the bucket " + objects_.bucket() +
                        " belong to another table of this name: none is removed because nothing refers to it. If that "
                        "table is gone for good, remove the object " +
                        note);
}

base::Result<int> ObjectCleaner::sweep_some(int limit) {
  if (kinds_.empty() || clock_.monotonic() < next_sweep_ || clock_.is_doubtful()) return 0;
  TRY_VOID(check_ownership());
  const ObjectKind& kind = kinds_[swept_kind_];
  TRY(const ObjectPage page, objects_.list(object_prefix(kind, table_), swept_, limit));
  for (const ObjectInfo& object : page.objects) {
    const bool is_old = object.modified + options_.orphan_age < page.now;
    const auto owner = is_old ? owner_of_object(kind, table_, object.name) : std::nullopt;
    if (owner) {
      TRY(const bool is_needed, is_referred_to(kind, *owner, object.name));
      if (!is_needed) {
        TRY_VOID(objects_.remove(object.name));
        ++counts_.orphans;
        base::log_info("objects", "removed an object that nothing refers to", {{"object", object.name}});
      }
    }
    swept_ = object.name;
  }
  if (!page.has_more) {
    swept_.clear();
    swept_kind_ = (swept_kind_ + 1) % kinds_.size();
    if (swept_kind_ == 0) next_sweep_ = clock_.monotonic() + options_.sweep_pause;
  }
  return static_cast<int>(page.objects.size());
}

}  // namespace postino::objects
