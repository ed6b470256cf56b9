// The spool inside the store: objects in parts that fit into items.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/random.h"
#include "outbox/ledger/spool.h"
#include "store/retry.h"
#include "store/store.h"

namespace postino::outbox {

class StoreSpool final : public Spool {
 public:
  StoreSpool(store::Store& store, std::string table, base::Random& random, store::Retry retry)
      : store_(store), table_(std::move(table)), random_(random), retry_(std::move(retry)) {}

  base::Result<std::string> write(const SpoolObject& object) override { return write(object, true); }
  // `expires`: whether it may be removed when its time has passed, or has to be told so first (record_lives.h).
  base::Result<std::string> write(const SpoolObject& object, bool expires);
  base::Result<std::string> read_if(const std::string& path, const Admit& admit) override;
  base::Result<void> remove(const std::string& path) override;

  // For the ledger, whose transaction writes an object along with what names it. nullopt when the object is too large
  // for that. The transaction must fail for a second object of this kind and e-mail.
  struct Placed {
    std::string path;
    store::TransactPut put;
  };
  std::optional<Placed> place(const SpoolObject& object, bool expires = true) const;

  // Where contents of this e-mail are: what place() has placed is in one part, what write() has written in several.
  static bool is_in_one_part(std::string_view path, std::string_view id);
  static bool is_in_several_parts(std::string_view path, std::string_view id);
  static item::Key key_of_part(const std::string& path, std::size_t part);
  static constexpr std::size_t most_parts = 1'000;  // of an object: many more than any message has

 private:
  struct Packing {
    std::size_t size = 0;  // when unpacked
    std::string similar;   // path of what it was packed by; empty when it stands for itself
  };
  struct Part {
    std::string bytes;
    std::int64_t parts = 1;  // that the object has
    std::optional<Packing> packing;
  };
  // A payload that was read along with the message.
  struct Neighbour {
    std::string path;
    base::Result<Part> part;
  };
  static base::Result<Part> part_of(const std::string& path, std::int64_t number,
                                    const std::optional<item::Item>& item);
  base::Result<Part> read_part(const std::string& path, std::int64_t number);
  // The first part of a message and the payload in one request: the message may be packed by it.
  base::Result<Part> read_with_payload(const std::string& path, std::optional<Neighbour>& payload);
  base::Result<std::string> read_similar(const std::string& path, const std::optional<Neighbour>& neighbour);
  base::Result<std::string> unpacked(const Part& part, const std::optional<Neighbour>& neighbour);

  store::Store& store_;
  const std::string table_;
  base::Random& random_;
  const store::Retry retry_;
};

}  // namespace postino::outbox
