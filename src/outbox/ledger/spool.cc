#include <optional>

#include "base/descriptor.h"
#include "base/metrics_text.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "objects/enclosed_file.h"
#include "outbox/email/payload.h"
#include "outbox/ledger/kept_spool.h"

namespace postino::outbox {

namespace {

constexpr std::string_view payload_ending = ".json";
constexpr std::string_view message_ending = ".eml";

// Why the path cannot be that of the e-mail's contents.
std::optional<std::string> why_not_of(const std::string& id, SpoolKind kind, std::string_view path) {
  const bool is_payload = kind == SpoolKind::payload;
  const std::string what = is_payload ? "payload" : "message";
  if (path.empty()) return "the record of the e-mail names no " + what;
  if (path.find('\0') != std::string_view::npos) return "the record of the e-mail names a " + what + " that cannot be";
  const std::string owner = id_in_spool_path(path);
  if (!is_uuid(owner)) return std::nullopt;  // another program has names of its own
  if (!base::equal_ignoring_case(owner, id))
    return "the record of the e-mail names contents of another e-mail as its " + what;
  if (path.ends_with(is_payload ? message_ending : payload_ending))
    return "the record of the e-mail names its " + std::string(is_payload ? "message" : "payload") + " as its " + what;
  return std::nullopt;
}

// A path that no spool gives to what it keeps.
bool leads_elsewhere(std::string_view path) {
  return path.starts_with('/') || ("/" + std::string(path) + "/").find("/../") != std::string::npos;
}

}  // namespace

base::Result<void> forget_noted_spool(const std::filesystem::path& folder, const std::string& id) {
  TRY(const base::Descriptor noting, objects::open_directory(folder.string()));
  const auto noted = objects::read_enclosed_file(noting.number(), noted_spool, spool_id_size);
  if (!noted || *noted != id) return {};
  return objects::remove_enclosed_file(noting.number(), noted_spool);
}

void KeptSpool::append_refusal(std::string& out, bool is_refusing) {
  base::append_metric(out, "postino_spool_writes_refused", "gauge",
                      "1 while the directory or bucket of payloads and messages (--spool) takes no writes.",
                      is_refusing ? "1" : "0");
}

base::Result<std::string> SpoolWithFormer::read_if(const std::string& path, const Admit& admit) {
  auto found = spool_.read_if(path, admit);
  if (found || found.error().code != base::ErrorCode::not_found) return found;
  auto former = former_.read_if(path, admit);
  // A path that is none there is not found; any other trouble may hide contents that are there.
  using enum base::ErrorCode;
  const bool is_not_there = !former && (former.error().code == not_found || former.error().code == invalid);
  return is_not_there ? std::move(found) : std::move(former);
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
         std::string(object.kind == SpoolKind::payload ? payload_ending : message_ending);
}

std::string id_in_spool_path(std::string_view path) {
  constexpr std::size_t id_size = 36;  // of a UUID
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return name.size() > id_size ? std::string(name.substr(0, id_size)) : std::string();
}

base::Result<std::string> read_contents(Spool& spool, SpoolKind kind, const std::string& id, const std::string& path,
                                        const Spool::Admit& admit) {
  using enum base::ErrorCode;
  if (auto reason = why_not_of(id, kind, path)) return base::fail(corrupt, *std::move(reason));
  const std::size_t most = kind == SpoolKind::payload ? most_payload_bytes : most_message_bytes;
  std::size_t size = 0;
  auto bytes = spool.read_if(path, [&](std::size_t found) {
    size = found;
    return found <= most && admit(found);
  });
  if (!bytes && size > most)
    return base::fail(corrupt, "the " + std::string(kind == SpoolKind::payload ? "payload" : "message") +
                                   " of the e-mail has " + std::to_string(size >> 20) + " MB, more than the " +
                                   std::to_string(most >> 20) + " MB that it may have");
  if (!bytes && (bytes.error().code == invalid || bytes.error().code == malformed))
    return base::fail(corrupt, "what the record of the e-mail names cannot be read: " + bytes.error().message);
  // It may come back to its place in the spool, and nowhere else.
  if (!bytes && bytes.error().code == not_found && leads_elsewhere(path))
    return base::fail(corrupt, "what the record of the e-mail names is not in the spool: " + bytes.error().message);
  return bytes;
}

}  // namespace postino::outbox
