#include "object_store_conformance.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/many_threads_testing.h"

namespace postino::objects {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

std::vector<std::string> ObjectStoreConformance::names(const std::string& prefix, const std::string& after, int limit) {
  const auto page = objects().list(prefix, after, limit);
  EXPECT_TRUE(page) << page.error().message;
  std::vector<std::string> names;
  if (page)
    for (const ObjectInfo& object : page->objects) names.push_back(object.name);
  return names;
}

TEST_P(ObjectStoreConformance, WhatIsPutIsThere) {
  std::string bytes(300'000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  for (const std::string& name : {"a", "a/b", "a/b/c.json", "TICKET#1/x=y&z+w%20?.json", "...", "~!*'()$;,:@"}) {
    ASSERT_TRUE(objects().put(name, bytes + name)) << name;
    EXPECT_EQ(objects().get(name).value_or("-"), bytes + name) << name;
  }
  ASSERT_TRUE(objects().put("a", ""));
  EXPECT_EQ(objects().get("a").value_or("-"), "") << "replaced, and empty";
  EXPECT_EQ(objects().get("a/b").value_or("-"), bytes + "a/b") << "an object may be called like a folder";
}

TEST_P(ObjectStoreConformance, WhatIsNotThereIsNotFound) {
  ASSERT_TRUE(objects().put("a/b", "x"));
  for (const char* name : {"b", "a", "a/b/c", "a/bb"}) {
    const auto got = objects().get(name);
    ASSERT_FALSE(got) << name;
    EXPECT_EQ(got.error().code, base::ErrorCode::not_found) << name << ": " << got.error().message;
    EXPECT_TRUE(objects().remove(name)) << name;
  }
  EXPECT_TRUE(objects().remove("a/b"));
  EXPECT_EQ(objects().get("a/b").error().code, base::ErrorCode::not_found);
  EXPECT_TRUE(objects().remove("a/b")) << "removed already";
}

TEST_P(ObjectStoreConformance, NamesAndSizesAreChecked) {
  for (const char* name : {"", "..", "a//b", "a/../b", "/a", "a b", "a\n"}) {
    EXPECT_EQ(objects().put(name, "x").error().code, base::ErrorCode::invalid) << name;
    EXPECT_EQ(objects().get(name).error().code, base::ErrorCode::invalid) << name;
    EXPECT_EQ(objects().remove(name).error().code, base::ErrorCode::invalid) << name;
  }
  const std::string bytes(largest_object + 1, 'x');
  EXPECT_EQ(objects().put("large", bytes).error().code, base::ErrorCode::invalid);
  EXPECT_THAT(names(""), IsEmpty());
}

TEST_P(ObjectStoreConformance, ListsAreInTheOrderOfNames) {
  std::vector<std::string> all = {"a",     "a!",  "a!/x", "a/b",  "a/b/c", "a/b!",  "a0",
                                  "a/..x", "A/b", "b/=x", "b/.y", "b=/x",  "b#1/2", "b%2F"};
  for (const std::string& name : all) ASSERT_TRUE(objects().put(name, name));
  std::ranges::sort(all);
  EXPECT_THAT(names(""), ElementsAreArray(all));
  for (const std::string& prefix : {"a", "a/", "a/b", "b", "b/", "b#", "zz", "a/b/c", "a/b/cc"}) {
    std::vector<std::string> wanted;
    for (const std::string& name : all)
      if (name.starts_with(prefix)) wanted.push_back(name);
    EXPECT_THAT(names(prefix), ElementsAreArray(wanted)) << prefix;
    // One after the other.
    std::vector<std::string> found;
    while (true) {
      const auto page = objects().list(prefix, found.empty() ? "" : found.back(), 1);
      ASSERT_TRUE(page);
      for (const ObjectInfo& object : page->objects) found.push_back(object.name);
      EXPECT_EQ(page->has_more, found.size() < wanted.size());
      if (!page->has_more || found.size() > wanted.size()) break;
    }
    EXPECT_THAT(found, ElementsAreArray(wanted)) << prefix;
  }
  EXPECT_THAT(names("a/", "a/b"), ElementsAre("a/b!", "a/b/c"));
  EXPECT_THAT(names("a/", "a/zz"), IsEmpty());
}

TEST_P(ObjectStoreConformance, ListsTellSizesAndTimes) {
  ASSERT_TRUE(objects().put("x", "12345"));
  const auto page = objects().list("", "", 10);
  ASSERT_TRUE(page);
  ASSERT_EQ(page->objects.size(), 1U);
  EXPECT_EQ(page->objects[0].size, 5U);
  const auto age = page->now - page->objects[0].modified;
  EXPECT_GE(age, -std::chrono::seconds(2));
  EXPECT_LE(age, base::test_patience);
}

TEST_P(ObjectStoreConformance, ConcurrentWritersLeaveWholeObjects) {
  const int rounds = base::volume(100);
  const std::string large(200'000, 'x');
  base::run_threads(4, [&](int number) {
    for (int i = 0; i < rounds; ++i) {
      // One folder that comes and goes, one object that all write.
      const std::string own = "folder/" + std::to_string(number);
      EXPECT_TRUE(objects().put(own, large));
      EXPECT_EQ(objects().get(own).value_or("-").size(), large.size());
      EXPECT_TRUE(objects().remove(own));
      EXPECT_TRUE(objects().put("shared", std::string(1'000 + number, static_cast<char>('a' + number))));
      const auto got = objects().get("shared");
      ASSERT_TRUE(got) << got.error().message;
      EXPECT_EQ(got->size(), 1'000U + static_cast<std::size_t>(got->front() - 'a'));
      EXPECT_EQ(std::ranges::count(*got, got->front()), static_cast<std::ptrdiff_t>(got->size()));
    }
  });
  EXPECT_THAT(names(""), ElementsAre("shared"));
}

}  // namespace postino::objects
