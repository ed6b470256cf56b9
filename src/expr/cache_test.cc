#include "expr/cache.h"

#include <atomic>
#include <thread>

#include "expr/expression_testing.h"

namespace postino::expr {
namespace {

TEST(CachedExpressions, AreParsedOnce) {
  const auto first = cached_condition("cached = :v", Kind::condition);
  const auto second = cached_condition(std::string("cached = :v"), Kind::condition);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(*cached_update("SET a = :v"), *cached_update("SET a = :v"));
  EXPECT_EQ(*cached_projection("a, b"), *cached_projection("a, b"));
}

TEST(CachedExpressions, DifferByKind) {
  const auto condition = cached_condition("kind = :v", Kind::condition);
  const auto filter = cached_condition("kind = :v", Kind::filter);
  ASSERT_TRUE(condition && filter);
  EXPECT_NE(*condition, *filter);
  const Placeholders none;
  EXPECT_THAT(message_of(Binder(none).bind(*filter)), testing::StartsWith("Invalid FilterExpression: "));
  EXPECT_THAT(message_of(Binder(none).bind(*condition)), testing::StartsWith("Invalid ConditionExpression: "));
}

TEST(CachedExpressions, ErrorsComeAgain) {
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(message_of(cached_update("SET")),
              "Invalid UpdateExpression: Syntax error; token: \"<EOF>\", near: \"SET\"");
}

using Cache = ExpressionCache<int>;

TEST(ExpressionCache, FindsWhatWasInserted) {
  Cache cache(1 << 16);
  EXPECT_EQ(cache.find("a"), nullptr);
  cache.insert("a", std::make_shared<int>(1));
  cache.insert("b", std::make_shared<int>(2));
  EXPECT_EQ(*cache.find("a"), 1);
  EXPECT_EQ(*cache.find("b"), 2);
  cache.insert("a", std::make_shared<int>(3));
  EXPECT_EQ(*cache.find("a"), 1) << "the first one stays";
  EXPECT_EQ(cache.size(), 2U);
}

TEST(ExpressionCache, IsBounded) {
  constexpr std::size_t capacity = 16 * 1024;
  Cache cache(capacity);
  for (int i = 0; i < 10'000; ++i) cache.insert("text number " + std::to_string(i), std::make_shared<int>(i));
  EXPECT_LE(cache.size(), capacity / Cache::entry_overhead);
  EXPECT_GE(cache.size(), 100U);
}

TEST(ExpressionCache, DoesNotTakeWhatIsTooLarge) {
  Cache cache(16 * 1024);
  cache.insert(std::string(2000, 'a'), std::make_shared<int>(1));
  EXPECT_EQ(cache.size(), 0U);
}

TEST(ExpressionCache, KeepsWhatIsUsed) {
  Cache cache(16 * 1024);
  cache.insert("favourite", std::make_shared<int>(42));
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_NE(cache.find("favourite"), nullptr) << i;
    cache.insert("text number " + std::to_string(i), std::make_shared<int>(i));
  }
}

TEST(ExpressionCache, AFoundTreeOutlivesItsEviction) {
  Cache cache(16 * 1024);
  cache.insert("held", std::make_shared<int>(42));
  const auto held = cache.find("held");
  for (int i = 0; i < 10'000; ++i) cache.insert("text number " + std::to_string(i), std::make_shared<int>(i));
  EXPECT_EQ(cache.find("held"), nullptr);
  EXPECT_EQ(*held, 42);
}

TEST(ConcurrentExpressionCache, ServesManyThreads) {
  Cache cache(16 * 1024);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int seed = 0; seed < 4; ++seed)
    threads.emplace_back([&, seed] {
      for (int i = 0; i < 20'000; ++i) {
        const int number = (i * 7 + seed * 13) % 500;
        const std::string text = "text number " + std::to_string(number);
        if (const auto found = cache.find(text)) {
          if (*found != number) ++wrong;
        } else {
          cache.insert(text, std::make_shared<int>(number));
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace postino::expr
