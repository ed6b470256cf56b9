#include "outbox/ledger/object_spool.h"

#include <algorithm>

#include "base/hash.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "objects/enclosed_file.h"
#include "outbox/email/payload.h"
#include "outbox/ledger/spool_names.h"

namespace postino::outbox {

namespace {

using base::ErrorCode;

constexpr int swept_at_once = 100;
// Contents are written before the e-mail that names them.
constexpr base::Milliseconds longest_acceptance = std::chrono::hours(24);
constexpr base::Milliseconds largest_skew = std::chrono::hours(24);

// All servers that use the spool come to the same one.
std::string id_of(const std::string& address) { return base::to_hex(base::sha256(address)).substr(0, spool_id_size); }

// "2026/11", of which the names of that month begin.
std::string month_of(base::TimePoint time) {
  const std::string day = base::format_day(time);
  return day.substr(0, 4) + "/" + day.substr(4, 2);
}

// Empty when there is none.
base::Result<std::string> read_note(const std::filesystem::path& folder) {
  TRY(const base::Descriptor noting, objects::open_directory(folder.string()));
  auto id = objects::read_enclosed_file(noting.number(), noted_spool, spool_id_size);
  if (!id && id.error().code == ErrorCode::not_found) return std::string();
  return id;
}

base::Result<void> write_note(const std::filesystem::path& folder, const std::string& id) {
  TRY(const base::Descriptor noting, objects::open_directory(folder.string()));
  auto written = objects::write_enclosed_file(noting.number(), noted_spool, id, base::TimePoint());
  if (!written && written.error().code == ErrorCode::conflict) return {};  // it is there already
  return written;
}

}  // namespace

ObjectSpool::ObjectSpool(std::unique_ptr<objects::ObjectStore> objects, std::string prefix, base::Milliseconds kept_for,
                         base::Random& random)
    : objects_(std::move(objects)),
      prefix_(std::move(prefix) + "/"),
      address_(objects::object_address(objects_->bucket(), prefix_)),
      id_(id_of(address_)),
      kept_for_(std::max(kept_for, longest_acceptance)),
      random_(random) {}

std::string ObjectSpool::name_of(const std::string& path) const {
  return prefix_ + (path.starts_with(address_) ? path.substr(address_.size()) : path);
}

base::Result<void> ObjectSpool::be_noted_in(const std::filesystem::path& folder) {
  TRY(const std::string noted, read_note(folder));
  if (!noted.empty() && noted != id_)
    return base::invalid("the spool " + address_ +
                         " is not the one that was used before. If it was replaced on purpose, start once with "
                         "--spool-replaces " +
                         noted);
  {
    const std::lock_guard lock(marker_mutex_);
    folder_ = folder;
    was_used_before_ = !noted.empty();
  }
  const auto found = find_marker();
  if (!found && found.error().code == ErrorCode::invalid) return found;
  if (!found) static_cast<void>(failed(found.error()));
  return {};
}

base::Result<void> ObjectSpool::see_marker() const {
  const auto marker = objects_->get(prefix_ + spool_marker);
  if (marker && *marker == id_) return {};
  if (!marker && marker.error().code != ErrorCode::not_found) return base::propagate(marker.error());
  return base::fail(ErrorCode::io, "the object " + address_ + spool_marker +
                                       (marker ? " is not that of this spool" : " is gone: is it the right bucket?"));
}

base::Result<void> ObjectSpool::find_marker() {
  const std::lock_guard lock(marker_mutex_);
  if (has_marker_) return {};
  const auto marker = objects_->get(prefix_ + spool_marker);
  if (!marker && marker.error().code != ErrorCode::not_found) return base::propagate(marker.error());
  if (marker && *marker != id_)
    return base::invalid("the object " + address_ + spool_marker + " is not that of a spool in this place");
  if (!marker && was_used_before_)
    return base::fail(ErrorCode::io, "there is no " + address_ + spool_marker +
                                         ", which was there before: is it the right bucket? If all that was in the "
                                         "spool is gone for good, remove " +
                                         (folder_ / noted_spool).string());
  if (!marker) TRY_VOID(objects_->put(prefix_ + spool_marker, id_));
  if (!folder_.empty() && !was_used_before_) TRY_VOID(write_note(folder_, id_));
  was_used_before_ = has_marker_ = true;
  return {};
}

base::Error ObjectSpool::failed(const base::Error& error) {
  const std::lock_guard lock(mutex_);
  if (!failure_)
    base::log_error("outbox", "the spool cannot be used: e-mails are refused, or wait",
                    {{"spool", address_}, {"error", error.message}});
  failure_ = error.message;
  return {ErrorCode::io, "the spool " + address_ + " cannot be used: " + error.message};
}

void ObjectSpool::works() {
  const std::lock_guard lock(mutex_);
  if (!failure_) return;
  failure_.reset();
  base::log_info("outbox", "the spool can be used again", {{"spool", address_}});
}

std::optional<std::string> ObjectSpool::problem() const {
  const std::lock_guard lock(mutex_);
  if (!failure_) return std::nullopt;
  return "the spool " + address_ + " cannot be used: " + *failure_;
}

// The marker is always the same: to write it again shows that the bucket takes writes, and changes nothing.
void ObjectSpool::look_after_problem() {
  if (!problem()) return;
  auto found = has_marker_ ? see_marker() : find_marker();
  if (found) found = objects_->put(prefix_ + spool_marker, id_);
  if (found)
    works();
  else
    static_cast<void>(failed(found.error()));
}

void ObjectSpool::append_metrics(std::string& out) const { append_refusal(out, problem().has_value()); }

base::Result<std::string> ObjectSpool::write(const SpoolObject& object) {
  if (object.bytes.size() > objects::largest_object)
    return base::invalid("the contents of an e-mail are larger than " + std::to_string(objects::largest_object >> 20) +
                         " MB, the most that the spool takes");
  std::string path = new_spool_name(object, SizeInName::told, random_);
  auto written = find_marker();
  if (written) written = objects_->put(prefix_ + path, object.bytes);
  if (!written) return base::propagate(failed(written.error()));
  works();
  return path;
}

base::Result<std::size_t> ObjectSpool::size_of(const std::string& path) const {
  if (const auto told = size_in_spool_name(path)) return *told;
  const std::string name = name_of(path);
  TRY_VOID(objects::check_object_name(name));
  TRY(const objects::ObjectPage page, objects_->list(name, "", 1));
  if (page.objects.empty() || page.objects.front().name != name)
    return base::fail(ErrorCode::not_found, "there is no " + path + " in the spool");
  return page.objects.front().size;
}

base::Result<std::string> ObjectSpool::read_object(const std::string& path, const Admit& admit,
                                                   bool& is_out_of_reach) const {
  TRY(const std::size_t size, size_of(path));
  if (!admit(size)) return not_admitted(path);
  auto bytes = objects_->get(name_of(path));
  // Rights may come back, and archived objects too.
  is_out_of_reach = !bytes && bytes.error().code == ErrorCode::corrupt;
  if (is_out_of_reach) return base::fail(ErrorCode::io, bytes.error().message);
  if (bytes && contradicts_spool_name(path, *bytes))
    return base::fail(ErrorCode::corrupt, "the object " + path + " of the spool is damaged");
  return bytes;
}

base::Result<std::string> ObjectSpool::read_if(const std::string& path, const Admit& admit) {
  bool is_refused = false;
  bool is_out_of_reach = false;  // this object alone
  auto bytes = read_object(
      path,
      [&](std::size_t size) {
        is_refused = !admit(size);
        return !is_refused;
      },
      is_out_of_reach);
  if (bytes || is_refused || is_out_of_reach) return bytes;
  if (bytes.error().code == ErrorCode::invalid || bytes.error().code == ErrorCode::corrupt) return bytes;
  if (bytes.error().code != ErrorCode::not_found) return base::propagate(failed(bytes.error()));
  if (const auto marker = see_marker(); !marker) return base::propagate(failed(marker.error()));
  return bytes;
}

base::Result<void> ObjectSpool::remove(const std::string& path) { return objects_->remove(name_of(path)); }

base::Result<bool> ObjectSpool::sweep_some(base::TimePoint now, const IsNeeded& is_needed) {
  TRY(const objects::ObjectPage page, objects_->list(prefix_, swept_to_, swept_at_once));
  if (std::chrono::abs(page.now - now) > largest_skew)
    return base::fail(ErrorCode::conflict, "the clock of the object store is another one: nothing is removed");
  const base::TimePoint over = page.now - kept_for_;
  const std::string last_month = month_of(over);
  bool has_more = page.has_more;
  for (const objects::ObjectInfo& object : page.objects) {
    const std::string path = object.name.substr(prefix_.size());
    if (path.substr(0, last_month.size()) > last_month) {  // so it is with all that come after it
      has_more = false;
      break;
    }
    swept_to_ = object.name;
    const std::string id = id_in_spool_path(path);
    if (!is_spool_name(path) || !is_uuid(id) || object.modified >= over || is_needed(id)) continue;
    TRY_VOID(objects_->remove(object.name));
  }
  if (!has_more) swept_to_.clear();
  return has_more;
}

}  // namespace postino::outbox
