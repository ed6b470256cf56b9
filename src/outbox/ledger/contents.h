// Contents of e-mails on their way into the spool. A ledger that has the spool inside writes an object with the commit
// that names it; other objects are written before the commit.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "outbox/ledger/ledger.h"

namespace postino::outbox {

// Where an object goes. `Write` is what the ledger's commit has to write for it.
template <class Write>
struct Spooled {
  std::string path;
  std::optional<Write> write;  // nullopt: it is in the spool already
};

// The objects of one e-mail.
template <class Write>
struct SpooledContents {
  std::vector<Write> writes;
  std::vector<std::string> written;  // paths of what is in the spool already

  void add(Spooled<Write> object) {
    if (object.write)
      writes.push_back(*std::move(object.write));
    else
      written.push_back(std::move(object.path));
  }
  // When no e-mail names them in the end. They would expire anyway.
  void remove_written(Spool& spool) const {
    for (const std::string& path : written) (void)spool.remove(path);
  }
};

// Puts payload and message where the ledger keeps them and sets their paths. `spool` answers
// base::Result<Spooled<Write>> for an object.
template <class Write, class SpoolObjects>
base::Result<SpooledContents<Write>> spool_contents(Email& email, std::string payload,
                                                    std::optional<std::string> message, base::TimePoint keep_until,
                                                    const SpoolObjects& spool) {
  SpooledContents<Write> contents;
  const SpoolObject first{SpoolKind::payload, email.id, email.created_at, std::move(payload), keep_until};
  TRY(Spooled<Write> spooled, spool(first));
  email.payload_path = spooled.path;
  email.message_path.clear();
  contents.add(std::move(spooled));
  if (!message) return contents;
  TRY(spooled, spool(SpoolObject{SpoolKind::message, email.id, email.created_at, *std::move(message), keep_until,
                                 SimilarObject{email.payload_path, first.bytes}}));
  email.message_path = spooled.path;
  contents.add(std::move(spooled));
  return contents;
}

// How full a commit is. Other writers wait for it, so it is kept small.
class CommitRoom {
 public:
  // The first one always fits.
  bool has_room_for(std::size_t bytes) const {
    return emails_ == 0 || (emails_ < max_ledger_batch && bytes_ + bytes <= max_bytes);
  }
  void add(std::size_t bytes) {
    ++emails_;
    bytes_ += bytes;
  }
  bool is_empty() const { return emails_ == 0; }

 private:
  static constexpr std::size_t max_bytes = 3 << 20;  // of contents; a transaction of the store has 4 MB

  std::size_t emails_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace postino::outbox
