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

  base::Result<std::string> write(const SpoolObject& object) override;
  base::Result<std::string> read_if(const std::string& path, const Admit& admit) override;
  base::Result<void> remove(const std::string& path) override;

  // For the ledger, whose transaction writes an object along with what names it. nullopt when the object is too large
  // for that. The transaction must fail for a second object of this kind and e-mail.
  struct Placed {
    std::string path;
    store::TransactPut put;
  };
  std::optional<Placed> place(const SpoolObject& object) const;

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
  base::Result<Part> read_part(const std::string& path, std::int64_t number);
  base::Result<std::string> read_similar(const std::string& path);
  base::Result<std::string> unpacked(const Part& part);

  store::Store& store_;
  const std::string table_;
  base::Random& random_;
  const store::Retry retry_;
};

}  // namespace postino::outbox
