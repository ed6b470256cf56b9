#include "objects/s3_xml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/effort_testing.h"
#include "base/random.h"
#include "base/timestamp.h"

namespace postino::objects {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(S3ListingTest, ReadsWhatAmazonAnswers) {
  const auto listing = parse_s3_listing(R"(<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name><Prefix>a%2F</Prefix>
  <KeyCount>2</KeyCount><MaxKeys>2</MaxKeys><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>
  <!-- not <Contents> -->
  <Contents><Key>a%2FTICKET%231+x</Key><LastModified>2009-10-12T17:50:30.000Z</LastModified>
    <ETag>&quot;fba9dede5f27731c9771645a39863328&quot;</ETag><Size>434234</Size><StorageClass>STANDARD</StorageClass>
    <Owner><ID>75aa</ID><DisplayName>me</DisplayName></Owner></Contents>
  <Contents><Key>a%2Fb</Key><LastModified>2009-10-12T17:50:31Z</LastModified><Size>0</Size><Owner/></Contents>
</ListBucketResult>)");
  ASSERT_TRUE(listing) << listing.error().message;
  EXPECT_TRUE(listing->is_truncated);
  EXPECT_THAT(listing->objects,
              ElementsAre(ObjectInfo{"a/TICKET#1 x", 434'234, base::parse_timestamp("2009-10-12T17:50:30Z").value()},
                          ObjectInfo{"a/b", 0, base::parse_timestamp("2009-10-12T17:50:31Z").value()}));
}

TEST(S3ListingTest, NamesThatAreNotEncodedAreReadAsTheyAre) {
  const auto listing = parse_s3_listing(
      "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a+&amp;&lt;&#233;&#x1F600;%41&x;</Key>"
      "<Size>1</Size><LastModified>2009-10-12T17:50:31Z</LastModified></Contents></ListBucketResult>");
  ASSERT_TRUE(listing);
  EXPECT_FALSE(listing->is_truncated);
  EXPECT_EQ(listing->objects.at(0).name, "a+&<é😀%41&x;");
  const auto empty = parse_s3_listing("<ListBucketResult/>");
  ASSERT_TRUE(empty);
  EXPECT_THAT(empty->objects, IsEmpty());
}

TEST(S3ListingTest, SomethingElseIsNoList) {
  for (const std::string& text :
       {std::string(""), std::string("OK"), std::string("<html><body>Login</body></html>"), std::string("{}"),
        std::string("<ListBucketResult>"), std::string("<ListBucketResult></Contents></ListBucketResult>"),
        std::string("<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>"),
        std::string("<ListBucketResult><Contents><Key>a</Key><Size>many</Size></Contents></ListBucketResult>"),
        std::string(
            "<ListBucketResult><Contents><Key>a</Key><LastModified>now</LastModified></Contents></ListBucketResult>"),
        std::string("<ListBucketResult><!-- "), std::string("<ListBucketResult"), std::string("<><></></>"),
        std::string("<Error><Code>NoSuchKey</Code></Error>")})
    EXPECT_FALSE(parse_s3_listing(text)) << text;
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  EXPECT_FALSE(parse_s3_listing(deep));
}

// A server, or something on the way to it, may answer anything.
TEST(S3ListingTest, AnyBytesAreRead) {
  base::SeededRandom random(1);
  const std::string sound =
      "<?xml version=\"1.0\"?><!-- c "
      "--><ListBucketResult><EncodingType>url</EncodingType><Contents><Key>a%2F&#x41;</Key>"
      "<LastModified>2009-10-12T17:50:31Z</LastModified><Size>1</Size></Contents></ListBucketResult>";
  for (int round = 0; round < 20'000 * base::test_effort(); ++round) {
    std::string text = sound;
    for (std::uint64_t changes = 1 + random.next() % 4; changes > 0; --changes) {
      const std::size_t place = random.next() % text.size();
      const std::uint64_t kind = random.next() % 3;
      if (kind == 0) text[place] = static_cast<char>(random.next());
      if (kind == 1) text.erase(place, 1 + random.next() % 20);
      if (kind == 2) text.insert(place, 1, "<>/&;#%!-?"[random.next() % 10]);
      if (text.empty()) text = "<";
    }
    (void)parse_s3_listing(text);
    (void)parse_s3_problem(text);
  }
}

TEST(S3ProblemTest, TellsWhatTheAnswerSays) {
  const S3Problem problem = parse_s3_problem(
      "<?xml version=\"1.0\"?>\n<Error><Code>NoSuchKey</Code><Message>The key\ndoes not exist</Message>"
      "<Resource>/b/k</Resource></Error>");
  EXPECT_EQ(problem.code, "NoSuchKey");
  EXPECT_EQ(problem.message, "The key does not exist") << "a line end could forge a line of the log";
  for (const char* text : {"", "502 Bad Gateway", "<html>", "<Error><Code>x</Error>"})
    EXPECT_EQ(parse_s3_problem(text).code, "") << text;
  EXPECT_EQ(parse_s3_problem("<Error><Message>" + std::string(5'000, 'm') + "</Message></Error>").message.size(), 300U);
}

}  // namespace
}  // namespace postino::objects
