#include "outbox/ledger/packed_contents.h"

#include <zstd.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/check.h"

namespace postino::outbox {

namespace {

constexpr std::size_t least_bytes = 256;  // less is not worth the work
constexpr int level = 1;                  // of Zstandard: the others take longer and save hardly more

// What a thread needs while it packs or unpacks. It takes a while to make one, and many threads do it now and then: a
// few are kept for all.
template <class Context, Context* (*make)(), std::size_t (*release)(Context*), std::size_t (*bytes_of)(const Context*)>
class Contexts {
 public:
  class Lease {
   public:
    explicit Lease(Contexts& contexts) : contexts_(contexts), context_(contexts.take()) { CHECK(context_ != nullptr); }
    ~Lease() { contexts_.give_back(context_); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Context* get() const { return context_; }

   private:
    Contexts& contexts_;
    Context* const context_;
  };

  ~Contexts() {
    for (Context* const context : idle_) release(context);
  }

 private:
  static constexpr std::size_t most_idle = 4;
  static constexpr std::size_t most_bytes = 1 << 20;  // of one that is kept: large contents make it large

  Context* take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        Context* const context = idle_.back();
        idle_.pop_back();
        return context;
      }
    }
    return make();
  }
  void give_back(Context* context) {
    if (bytes_of(context) <= most_bytes) {
      const std::lock_guard lock(mutex_);
      if (idle_.size() < most_idle) {
        idle_.push_back(context);
        return;
      }
    }
    release(context);
  }

  std::mutex mutex_;
  std::vector<Context*> idle_;
};

using Packers = Contexts<ZSTD_CCtx, ZSTD_createCCtx, ZSTD_freeCCtx, ZSTD_sizeof_CCtx>;
using Unpackers = Contexts<ZSTD_DCtx, ZSTD_createDCtx, ZSTD_freeDCtx, ZSTD_sizeof_DCtx>;

Packers& packers() {
  static Packers all;
  return all;
}

Unpackers& unpackers() {
  static Unpackers all;
  return all;
}

}  // namespace

std::optional<std::string> pack(std::string_view bytes, std::string_view similar) {
  if (bytes.size() < least_bytes) return std::nullopt;
  const Packers::Lease packer(packers());
  ZSTD_CCtx_reset(packer.get(), ZSTD_reset_session_and_parameters);
  ZSTD_CCtx_setParameter(packer.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(packer.get(), ZSTD_c_checksumFlag, 1);
  if (!similar.empty()) ZSTD_CCtx_refPrefix(packer.get(), similar.data(), similar.size());
  std::string packed(bytes.size() - bytes.size() / 16, '\0');  // what does not fit is not worth unpacking
  const std::size_t size = ZSTD_compress2(packer.get(), packed.data(), packed.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size) != 0) return std::nullopt;
  packed.resize(size);
  packed.shrink_to_fit();
  return packed;
}

base::Result<std::string> unpack(std::string_view packed, std::size_t size, std::string_view similar) {
  const auto damaged = [](std::string_view why) {
    return base::fail(base::ErrorCode::corrupt, "packed contents are damaged: " + std::string(why));
  };
  // Before there is room for it: the frame says how much it will be.
  if (ZSTD_getFrameContentSize(packed.data(), packed.size()) != size) return damaged("they have another size");
  const Unpackers::Lease unpacker(unpackers());
  ZSTD_DCtx_reset(unpacker.get(), ZSTD_reset_session_and_parameters);
  if (!similar.empty()) ZSTD_DCtx_refPrefix(unpacker.get(), similar.data(), similar.size());
  std::string bytes(size, '\0');
  const std::size_t unpacked =
      ZSTD_decompressDCtx(unpacker.get(), bytes.data(), bytes.size(), packed.data(), packed.size());
  if (ZSTD_isError(unpacked) != 0) return damaged(ZSTD_getErrorName(unpacked));
  if (unpacked != size) return damaged("they have another size");
  return bytes;
}

}  // namespace postino::outbox
