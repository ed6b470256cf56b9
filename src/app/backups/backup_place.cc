#include "app/backups/backup_place.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "app/store/bucket.h"
#include "objects/directory_objects.h"

namespace postino::app {

namespace {

constexpr std::size_t most_key_bytes = 4'096;

// Closes what popen() or fopen() has opened.
struct StreamCloser {
  int (*close)(std::FILE*);
  void operator()(std::FILE* stream) const { static_cast<void>(close(stream)); }
};
using Stream = std::unique_ptr<std::FILE, StreamCloser>;

std::string read_stream(std::FILE* stream) {
  std::string text(most_key_bytes, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), stream));
  return text;
}

base::Result<std::string> key_text(const std::string& source) {
  const std::size_t colon = source.find(':');
  const std::string kind = source.substr(0, colon);
  const std::string where = source.substr(colon + 1);
  if (kind == "env") {
    const char* const text = std::getenv(where.c_str());
    if (text == nullptr)
      return base::fail(base::ErrorCode::not_found, "the environment variable " + where + " is not set");
    return std::string(text);
  }
  if (kind == "file") {
    const Stream file(std::fopen(where.c_str(), "re"), {std::fclose});
    if (!file) return base::fail(base::ErrorCode::not_found, "the file '" + where + "' cannot be read");
    return read_stream(file.get());
  }
  Stream output(::popen(where.c_str(), "re"), {::pclose});
  if (!output) return base::fail(base::ErrorCode::io, "the command cannot be run");
  const std::string text = read_stream(output.get());
  const int status = ::pclose(output.release());
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return base::fail(base::ErrorCode::io, "the command has failed");
  return text;
}

}  // namespace

base::Result<BackupPlace> open_backup_place(const Settings& settings, const base::Clock& clock, base::Random& random,
                                            base::Pause& pause, bool only_reads) {
  if (settings.backups.place.empty()) return base::invalid("--backup-to must say where backups are");
  BackupPlace opened;
  std::string prefix;
  if (const auto bucket = bucket_of_backups(settings.backups)) {
    TRY(opened.objects, open_bucket(bucket->bucket, settings.objects, {clock, random, pause, nullptr, nullptr}));
    prefix = bucket->prefix;
  } else if (only_reads) {
    TRY(opened.objects, objects::DirectoryObjects::open_to_read(settings.backups.place, "backups", clock, random));
  } else {
    TRY(opened.objects, objects::DirectoryObjects::open(settings.backups.place, "backups", clock, random));
  }
  opened.place = std::make_unique<backup::Place>(*opened.objects, std::move(prefix));
  return opened;
}

base::Result<std::optional<backup::MasterKey>> read_master_key(const std::string& source) {
  if (source.empty()) return std::nullopt;
  const auto text = key_text(source);
  if (!text) return base::fail(text.error().code, "the master key of backups: " + text.error().message);
  auto key = backup::MasterKey::parse(*text);
  // What a command is called may say more than it should.
  if (!key)
    return base::fail(key.error().code,
                      key.error().message + "; that of " + source.substr(0, source.find(':')) + ": is not");
  return std::optional<backup::MasterKey>(*std::move(key));
}

}  // namespace postino::app
