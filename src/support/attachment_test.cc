#include "support/record/attachment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "objects/memory_objects_testing.h"
#include "support/attachment_contents.h"

namespace postino::support {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr base::TimePoint now{base::Milliseconds(1'767'323'045'678)};
const std::string text = "it does not start\n";

AttachmentUpload upload() {
  return {.name = "log.txt", .content_type = "text/plain", .size = {}, .sha256 = "", .bytes = text};
}

json::FieldError fault_of(const AttachmentUpload& upload, const AttachmentTotals& had = {},
                          const AttachmentLimits& limits = {}) {
  const auto checked = check_attachment(upload, had, limits, now);
  return checked ? json::FieldError() : checked.error();
}

TEST(AttachmentTest, IsWhatItIs) {
  AttachmentUpload given = upload();
  given.name = "../log.txt";
  given.size = static_cast<std::int64_t>(text.size());
  given.sha256 = base::to_hex(base::sha256(text));
  const auto checked = check_attachment(given, {}, {}, now);
  ASSERT_TRUE(checked) << checked.error().rule;
  EXPECT_EQ(checked->name, "log.txt");
  EXPECT_EQ(checked->content_type, "text/plain");
  EXPECT_EQ(checked->size, 18);
  EXPECT_EQ(checked->sha256, given.sha256);
  EXPECT_EQ(checked->uploaded_at, now);
}

TEST(AttachmentTest, RefusalsNameFieldAndRule) {
  AttachmentUpload given = upload();
  given.size = 17;
  EXPECT_EQ(fault_of(given), (json::FieldError{"size", "must be the size of the content: 18"}));
  given = upload();
  given.sha256 = std::string(64, '0');
  EXPECT_EQ(fault_of(given).field, "sha256");
  given = upload();
  given.bytes.clear();
  EXPECT_EQ(fault_of(given), (json::FieldError{"content", "must not be empty"}));
  given = upload();
  given.name = "run.exe";
  EXPECT_EQ(fault_of(given).field, "name");
  given = upload();
  given.name = "\xFF";
  EXPECT_EQ(fault_of(given), (json::FieldError{"name", "must be UTF-8"}));
  given = upload();
  given.content_type = "image/png";
  EXPECT_EQ(fault_of(given).field, "content_type");
}

TEST(AttachmentTest, LimitsAreOfOneAndOfTheTicket) {
  AttachmentLimits limits{.bytes = 18, .ticket_bytes = 36, .count = 2};
  EXPECT_EQ(fault_of(upload(), {1, 18}, limits), json::FieldError());
  EXPECT_THAT(fault_of(upload(), {1, 19}, limits).rule, HasSubstr("at most 36 bytes together"));
  EXPECT_THAT(fault_of(upload(), {2, 2}, limits).rule, HasSubstr("at most 2 for one ticket"));
  limits.bytes = 17;
  EXPECT_EQ(fault_of(upload(), {}, limits), (json::FieldError{"content", "must have at most 17 bytes"}));
}

TEST(AttachmentTest, ItsFieldsComeBack) {
  Attachment attachment = check_attachment(upload(), {}, {}, now).value();
  attachment.object_uri = "s3://b/x";
  const item::Map fields = attachment_fields(attachment);
  EXPECT_EQ(read_attachment_fields(fields).value(), attachment);
  for (const item::Attribute& field : fields) {
    item::Map damaged = fields;
    damaged.set(field.name, true);
    const auto read = read_attachment_fields(damaged);
    ASSERT_FALSE(read) << field.name;
    EXPECT_EQ(read.error().code, base::ErrorCode::corrupt);
    EXPECT_THAT(read.error().message, HasSubstr(field.name));
  }
}

TEST(AttachmentTest, IsSavedAndNotShown) {
  const auto headers = download_headers({.name = "a \"b\" ä.txt", .content_type = "text/plain"});
  EXPECT_EQ(headers.at(1).second, "attachment; filename=\"a _b_ _.txt\"; filename*=UTF-8''a%20%22b%22%20%C3%A4.txt");
  EXPECT_EQ(headers.at(2).second, "nosniff");
}

class AttachmentContentsTest : public testing::Test {
 protected:
  item::Item item_of(const Attachment& attachment) const {
    item::Item item = attachment_fields(attachment);
    for (const item::Attribute& part : key_) item.set(part.name, part.value);
    return item;
  }

  base::ManualClock clock_{now};
  base::SeededRandom random_{1};
  objects::MemoryObjects objects_{clock_};
  AttachmentContents contents_{
      objects_, {"tickets", {{"PK", item::Type::string}, {"SK", item::Type::string}}}, clock_, random_};
  const item::Key key_{{"PK", "TICKET#tkt_1"}, {"SK", "ATTACHMENT#1"}};
  Attachment attachment_ = check_attachment(upload(), {}, {}, now).value();
};

TEST_F(AttachmentContentsTest, KeepsTheBytesForTheItem) {
  ASSERT_TRUE(contents_.keep(key_, text, attachment_));
  EXPECT_THAT(attachment_.object_uri, HasSubstr("s3://test-bucket/attachments/tickets/TICKET#tkt_1/ATTACHMENT#1/"));
  EXPECT_EQ(contents_.fetch(item_of(attachment_)).value_or("-"), text);
  Attachment second = attachment_;
  ASSERT_TRUE(contents_.keep(key_, text, second));
  EXPECT_NE(second.object_uri, attachment_.object_uri) << "nothing is overwritten";
  contents_.discard(attachment_);
  const auto gone = contents_.fetch(item_of(attachment_));
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, base::ErrorCode::not_found);
  EXPECT_THAT(objects_.names(), SizeIs(1));
}

TEST_F(AttachmentContentsTest, GivesNoOtherBytes) {
  ASSERT_TRUE(contents_.keep(key_, text, attachment_));
  item::Item of_other = item_of(attachment_);
  of_other.set("PK", "TICKET#tkt_2");
  EXPECT_EQ(contents_.fetch(of_other).error().code, base::ErrorCode::corrupt) << "another ticket's";
  const std::string name = *objects_.names().begin();
  ASSERT_TRUE(objects_.put(name, "it does not start!"));
  EXPECT_EQ(contents_.fetch(item_of(attachment_)).error().code, base::ErrorCode::corrupt) << "as long, but other bytes";
  objects_.set_outage(true);
  EXPECT_EQ(contents_.fetch(item_of(attachment_)).error().code, base::ErrorCode::io);
}

TEST_F(AttachmentContentsTest, LeavesNothingWhenItFails) {
  objects_.fail_at(1, objects::MemoryObjects::Fault::unknown);
  EXPECT_FALSE(contents_.keep(key_, text, attachment_));
  EXPECT_THAT(objects_.names(), IsEmpty());
}

}  // namespace
}  // namespace postino::support
