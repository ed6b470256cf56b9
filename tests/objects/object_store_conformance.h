// What every object store promises. A test instantiates the suite with a function that makes one, empty.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "objects/object_store.h"

namespace postino::objects {

// Keeps what the object store needs.
class ObjectStoreUnderTest {
 public:
  virtual ~ObjectStoreUnderTest() = default;
  virtual ObjectStore& objects() = 0;
};

class ObjectStoreConformance : public testing::TestWithParam<std::function<std::unique_ptr<ObjectStoreUnderTest>()>> {
 protected:
  ObjectStore& objects() { return environment_->objects(); }
  std::vector<std::string> names(const std::string& prefix, const std::string& after = "", int limit = most_listed);

 private:
  const std::unique_ptr<ObjectStoreUnderTest> environment_ = GetParam()();
};

}  // namespace postino::objects
