#include "base/temporary_directory.h"
#include "engine/memory_directory_testing.h"
#include "object_store_conformance.h"
#include "objects/directory_objects.h"

namespace postino::objects {
namespace {

class DirectoryUnderTest final : public ObjectStoreUnderTest {
 public:
  ObjectStore& objects() override { return *objects_; }

 private:
  const base::TemporaryDirectory directory_{engine::memory_directory()};
  const base::SystemClock clock_;
  base::SystemRandom random_;
  const std::unique_ptr<DirectoryObjects> objects_ =
      DirectoryObjects::open(directory_.path() / "objects", "bucket", clock_, random_).value();
};

INSTANTIATE_TEST_SUITE_P(Directory, ObjectStoreConformance,
                         testing::Values([] { return std::make_unique<DirectoryUnderTest>(); }));

}  // namespace
}  // namespace postino::objects
