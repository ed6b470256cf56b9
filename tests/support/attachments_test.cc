// Attachments of tickets, with an object store in memory.
#include "support/attachments.h"

#include "objects/memory_objects_testing.h"
#include "support_environment.h"

namespace postino::support {
namespace {

using testing::ElementsAre;

class AttachmentsTest : public testing::Test {
 protected:
  static AttachmentLimits small_limits() {
    AttachmentLimits limits;
    limits.count = 3;
    limits.ticket_bytes = 1'000;
    return limits;
  }
  static AttachmentUpload upload(const std::string& name = "log.txt", const std::string& bytes = "It is broken.\n") {
    return {.name = name, .content_type = "", .size = {}, .sha256 = "", .bytes = bytes};
  }
  std::vector<std::string> names(const std::string& ticket) {
    std::vector<std::string> names;
    const std::vector<KeptAttachment> all = desk_.attachments().list(ticket, actor_).value();
    for (const KeptAttachment& each : all) names.push_back(each.attachment.name);
    return names;
  }
  std::vector<std::string> event_types(const std::string& ticket) {
    std::vector<std::string> types;
    const Page<TicketEvent> events = office_.events.list(ticket, {.newest_first = false}, actor_).value();
    for (const TicketEvent& event : events.entries) types.push_back(event.type);
    return types;
  }

  SupportStore store_;
  SupportOffice office_{store_};
  objects::MemoryObjects objects_{store_.clock()};
  SupportDesk desk_{store_.engine(), office_.own_mail, {.attachments = small_limits(), .objects = &objects_},
                    store_.clock(),  store_.random(),  store_.retry()};
  const Actor actor_ = operator_of();
};

TEST_F(AttachmentsTest, AreTakenListedFetchedAndRemoved) {
  const std::string id = office_.make();
  const auto first = desk_.attachments().add(id, upload("../first.txt"), actor_);
  ASSERT_TRUE(succeeded(first));
  EXPECT_EQ(first->attachment.content_type, "text/plain");
  store_.time().advance(std::chrono::seconds(1));
  ASSERT_TRUE(succeeded(desk_.attachments().add(id, upload("second.txt", "More."), actor_)));
  EXPECT_THAT(names(id), ElementsAre("first.txt", "second.txt"));
  const auto fetched = desk_.attachments().fetch(id, first->id, actor_);
  ASSERT_TRUE(succeeded(fetched));
  EXPECT_EQ(fetched->bytes, "It is broken.\n");
  ASSERT_TRUE(succeeded(desk_.attachments().remove(id, first->id, actor_)));
  EXPECT_THAT(names(id), ElementsAre("second.txt"));
  EXPECT_TRUE(is_refused(desk_.attachments().fetch(id, first->id, actor_), RefusalKind::unknown_attachment));
  EXPECT_TRUE(is_refused(desk_.attachments().remove(id, first->id, actor_), RefusalKind::unknown_attachment));
  EXPECT_THAT(event_types(id),
              ElementsAre("ticket_created", "attachment_added", "attachment_added", "attachment_removed"));
}

TEST_F(AttachmentsTest, ThatLieAreRefusedAndLeaveNothing) {
  const std::string id = office_.make();
  const std::string program = std::string("\x7f") + "ELF" + std::string(60, '\0');
  AttachmentUpload picture = upload("photo.png", "not a picture");
  picture.content_type = "image/png";
  AttachmentUpload longer = upload();
  longer.size = 5;
  AttachmentUpload other = upload();
  other.sha256 = std::string(64, '0');
  for (const auto& [lie, field] :
       {std::pair(upload("notes.txt", program), "content_type"), std::pair(picture, "content_type"),
        std::pair(longer, "size"), std::pair(other, "sha256"), std::pair(upload("run.exe"), "name"),
        std::pair(upload("empty.txt", ""), "content"),
        std::pair(upload("big.txt", std::string(1'001, 'a')), "content")})
    EXPECT_THAT(faulty_fields(desk_.attachments().add(id, lie, actor_)), ElementsAre(field)) << lie.name;
  EXPECT_THAT(names(id), ElementsAre());
  EXPECT_TRUE(objects_.list("", "", 10)->objects.empty());
}

TEST_F(AttachmentsTest, WhoseObjectHasNoNameCannotBeRead) {
  const std::string id = office_.make();
  const auto kept = desk_.attachments().add(id, upload(), actor_);
  ASSERT_TRUE(succeeded(kept));
  item::Item item = store_.get("TICKET#" + id, "ATTACHMENT#" + kept->id).value();
  item.set("object_uri", kept->attachment.object_uri + '\0');
  store_.put(item);
  EXPECT_TRUE(is_refused(desk_.attachments().fetch(id, kept->id, actor_), RefusalKind::corrupt));
}

TEST_F(AttachmentsTest, OfATicketAreLimited) {
  const std::string id = office_.make();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(succeeded(desk_.attachments().add(id, upload(), actor_)));
  EXPECT_THAT(faulty_fields(desk_.attachments().add(id, upload(), actor_)), ElementsAre("attachments"));
  EXPECT_EQ(objects_.list("", "", 10)->objects.size(), 3U);
}

TEST_F(AttachmentsTest, OfOthersDoNotExist) {
  const std::string id = office_.make();
  const auto kept = desk_.attachments().add(id, upload(), customer_actor("cust_456"));
  ASSERT_TRUE(succeeded(kept));
  for (const Actor& other : {operator_of("acme"), customer_actor("cust_9")}) {
    EXPECT_TRUE(is_refused(desk_.attachments().add(id, upload(), other), RefusalKind::unknown_ticket));
    EXPECT_TRUE(is_refused(desk_.attachments().list(id, other), RefusalKind::unknown_ticket));
    EXPECT_TRUE(is_refused(desk_.attachments().fetch(id, kept->id, other), RefusalKind::unknown_ticket));
    EXPECT_TRUE(is_refused(desk_.attachments().remove(id, kept->id, other), RefusalKind::unknown_ticket));
  }
}

TEST_F(AttachmentsTest, DoNotTellCustomersWhoBroughtThem) {
  const std::string id = office_.make();
  const Actor owner = customer_actor("cust_456");
  const auto internal = desk_.attachments().add(id, upload(), actor_);
  ASSERT_TRUE(succeeded(internal));
  EXPECT_EQ(internal->by, "op_1");
  EXPECT_EQ(desk_.attachments().list(id, owner)->front().by, "");
  EXPECT_EQ(desk_.attachments().find(id, internal->id, owner)->by, "");
  EXPECT_EQ(desk_.attachments().fetch(id, internal->id, owner)->kept.by, "");
  EXPECT_EQ(desk_.attachments().add(id, upload(), owner)->by, "");
  const auto all = desk_.attachments().list(id, actor_);
  ASSERT_TRUE(succeeded(all));
  for (const KeptAttachment& kept : *all) EXPECT_NE(kept.by, "");
}

TEST_F(AttachmentsTest, NeedAnObjectStore) {
  const std::string id = office_.make();
  EXPECT_TRUE(is_refused(office_.desk.attachments().add(id, upload(), actor_), RefusalKind::unavailable));
}

}  // namespace
}  // namespace postino::support
