#include "outbox/ledger/spool.h"

#include "base/timestamp.h"

namespace postino::outbox {

base::Result<std::string> SpoolWithFormer::read_if(const std::string& path, const Admit& admit) {
  auto found = spool_.read_if(path, admit);
  if (found || found.error().code != base::ErrorCode::not_found) return found;
  auto former = former_.read_if(path, admit);
  const bool is_there = former || former.error().code == base::ErrorCode::exhausted;
  return is_there ? std::move(former) : std::move(found);
}

base::Result<void> SpoolWithFormer::remove(const std::string& path) {
  auto removed = spool_.remove(path);
  if (removed || removed.error().code != base::ErrorCode::not_found) return removed;
  return former_.remove(path);
}

tl::unexpected<base::Error> not_admitted(const std::string& path) {
  return base::fail(base::ErrorCode::exhausted, "there is no room in memory for " + path + " of the spool");
}

std::string spool_path(const SpoolObject& object, const std::string& distinction) {
  const std::string day = base::format_day(object.created);
  return day.substr(0, 4) + "/" + day.substr(4, 2) + "/" + object.id + (distinction.empty() ? "" : "-" + distinction) +
         (object.kind == SpoolKind::payload ? ".json" : ".eml");
}

std::string id_in_spool_path(std::string_view path) {
  constexpr std::size_t id_size = 36;  // of a UUID
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return name.size() > id_size ? std::string(name.substr(0, id_size)) : std::string();
}

}  // namespace postino::outbox
