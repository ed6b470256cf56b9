#include "outbox/work/intake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/random.h"
#include "base/temporary_directory.h"
#include "objects/written_files_testing.h"
#include "outbox/ledger/directory_spool.h"

namespace postino::outbox {
namespace {

namespace fs = std::filesystem;
using objects::write_file;
using testing::HasSubstr;

constexpr base::TimePoint intake_start{base::Milliseconds(1'794'735'000'000)};  // 2026-11-15T09:30:00Z

// Payloads become messages: with files of a directory, and what is wrong is told.
class IntakeTest : public testing::Test {
 protected:
  IntakeTest() {
    fs::create_directories(files_);
    write_file(files_ / "a.txt", "attached");
  }

  Event work(const std::string& payload, IntakeOptions options, std::string sender = "ann@example.com") {
    Email email;
    email.sender = std::move(sender);
    return work_on(std::move(email), payload, std::move(options));
  }
  Event work_on(Email email, const std::string& payload, IntakeOptions options) {
    auto intake = Intake::create(*spool_, nullptr, std::move(options));
    EXPECT_TRUE(intake);
    email.id = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
    email.state = State::intaking;
    email.created_at = intake_start;
    email.payload_path =
        spool_->write({SpoolKind::payload, email.id, intake_start, payload, intake_start + std::chrono::hours(1)})
            .value_or("");
    MessageRoom room;
    return (*intake)->work(email, room).value();
  }
  static std::string payload(const std::string& more, const std::string& from = "ann@example.com") {
    return R"({"from":")" + from + R"(","to":"bob@example.com","subject":"s","body_text":"b")" + more + "}";
  }
  IntakeOptions with_files() const { return {.attachment_path = files_.string()}; }

  static std::string message_of(const Event& event) {
    const auto* built = std::get_if<event::MessageBuilt>(&event);
    return built != nullptr ? built->message : "";
  }
  static std::string rejection_of(const Event& event) {
    const auto* rejected = std::get_if<event::PayloadRejected>(&event);
    return rejected != nullptr ? rejected->reason : "not rejected";
  }
  static bool is_awaited(const Event& event) {
    const auto* failed = std::get_if<event::IntakeFailed>(&event);
    return failed != nullptr && failed->is_payload_missing;
  }

  base::TemporaryDirectory directory_;
  base::SeededRandom random_{1};
  const fs::path files_ = directory_.path() / "files";
  const std::unique_ptr<DirectorySpool> spool_ = *DirectorySpool::open(directory_.path() / "spool", random_);
};

TEST_F(IntakeTest, BuildsTheMessage) {
  const std::string message =
      message_of(work(payload(R"(,"attachments":["a.txt"],"custom_headers":{"X-A":"1"})"), with_files()));
  EXPECT_THAT(message, HasSubstr("Message-ID: <3f2504e0-4f89-41d3-9a0c-0305e82c3301@example.com>"));
  EXPECT_THAT(message, HasSubstr("YXR0YWNoZWQ=")) << "the attachment in base64";
  EXPECT_THAT(message, HasSubstr("X-A: 1"));
}

TEST_F(IntakeTest, TheDateIsThatOfSending) {
  Email email;
  email.sender = "ann@example.com";
  EXPECT_THAT(message_of(work_on(email, payload(""), {})), HasSubstr("Date: Sun, 15 Nov 2026 09:30:00 +0000"));
  email.send_at = intake_start + std::chrono::hours(48);
  EXPECT_THAT(message_of(work_on(email, payload(""), {})), HasSubstr("Date: Tue, 17 Nov 2026 09:30:00 +0000"));
  email.begun_again_at = intake_start + std::chrono::hours(72);
  EXPECT_THAT(message_of(work_on(email, payload(""), {})), HasSubstr("Date: Wed, 18 Nov 2026 09:30:00 +0000"));
}

TEST_F(IntakeTest, ASenderBeyondAsciiHasAMessageIdToo) {
  const Event event = work(payload("", "ann@m\xC3\xBCnchen.example"), {}, "ann@m\xC3\xBCnchen.example");
  EXPECT_THAT(message_of(event), HasSubstr("@xn--mnchen-3ya.example>")) << rejection_of(event);
}

TEST_F(IntakeTest, ALocalPartBeyondAsciiStandsInTheHeader) {
  const Event event = work(payload("", "j\xC3\xB6rg@m\xC3\xBCnchen.example"), {}, "j\xC3\xB6rg@m\xC3\xBCnchen.example");
  EXPECT_THAT(message_of(event), HasSubstr("From: j\xC3\xB6rg@m\xC3\xBCnchen.example\r\n")) << rejection_of(event);
  EXPECT_THAT(message_of(event), HasSubstr("@xn--mnchen-3ya.example>")) << "the Message-ID is ASCII";
}

TEST_F(IntakeTest, WhatTheCallerGotWrongIsRejected) {
  EXPECT_EQ(rejection_of(work("{", {})), "the payload must be JSON; it ends too early, in line 1, column 2");
  EXPECT_EQ(rejection_of(work(payload(R"(,"attachments":["a.txt"])"), {})),
            "attachment a.txt: no directory for attachments is configured");
  EXPECT_EQ(rejection_of(work(payload(R"(,"attachments":["b.txt"])"), with_files())),
            "attachment b.txt: there is no such file");
  const Event event = work(payload(R"(,"attachments":[")" + std::string(300, 'n') + R"(/x"])"), with_files());
  EXPECT_NE(rejection_of(event), "not rejected") << "and is not tried for ever";
  IntakeOptions small = with_files();
  small.max_message_bytes = 8;
  EXPECT_EQ(rejection_of(work(payload(R"(,"attachments":["a.txt"])"), small)),
            "the message would be larger than 8 bytes");
}

// Of what is being built, with files of a directory.
class IntakeMemoryTest : public IntakeTest {
 protected:
  static constexpr std::size_t megabyte = 1 << 20;

  IntakeMemoryTest() { write_file(files_ / "large.bin", std::string(2 * megabyte, 'x')); }

  Email with_file() {
    Email email;
    email.id = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
    email.state = State::intaking;
    email.created_at = intake_start;
    email.sender = "ann@example.com";
    const std::string text = payload(R"(,"attachments":["large.bin"])");
    email.payload_path =
        spool_->write({SpoolKind::payload, email.id, intake_start, text, intake_start + std::chrono::hours(1)})
            .value_or("");
    return email;
  }

  const std::shared_ptr<base::MemoryBudget> budget_ = std::make_shared<base::MemoryBudget>(10 * megabyte);
  MessageMemory memory_{budget_};
  const std::unique_ptr<Intake> intake_ = *Intake::create(*spool_, nullptr, with_files());
  MessageRoom room_{&memory_};
};

TEST_F(IntakeMemoryTest, RoomIsTakenBeforeAttachmentsAreRead) {
  const Email email = with_file();
  MessageRoom others(&memory_);
  ASSERT_TRUE(others.take(5 * megabyte));
  EXPECT_FALSE(intake_->work(email, room_));
  EXPECT_TRUE(room_.is_waiting());
  EXPECT_EQ(room_.bytes(), 0U);
  others = {};
  ASSERT_TRUE(room_.has_come());
  const auto event = intake_->work(email, room_);
  ASSERT_TRUE(event);
  const std::string message = message_of(*event);
  EXPECT_GT(message.size(), 2 * megabyte);
  EXPECT_EQ(room_.bytes(), 2 * message.size()) << "until it is written";
}

TEST_F(IntakeMemoryTest, AMessageThatIsLargerThanAllMemoryIsBuiltAlone) {
  write_file(files_ / "large.bin", std::string(5 * megabyte, 'x'));
  const auto event = intake_->work(with_file(), room_);
  ASSERT_TRUE(event);
  EXPECT_GT(message_of(*event).size(), 5 * megabyte);
}

TEST_F(IntakeMemoryTest, WhatCannotBeAMessageAfterAllDoesNotWait) {
  const Email email = with_file();
  MessageRoom others(&memory_);
  ASSERT_TRUE(others.take(5 * megabyte));
  EXPECT_FALSE(intake_->work(email, room_));
  ASSERT_TRUE(spool_->remove(email.payload_path));
  const auto event = intake_->work(email, room_);
  ASSERT_TRUE(event) << "whether there is room or not";
  EXPECT_TRUE(is_awaited(*event));
}

// Another program has damaged the record, or the file. It is told of, and not tried for ever.
TEST_F(IntakeTest, APayloadThatCannotBeTheirsOrIsDamagedIsRejected) {
  auto intake = Intake::create(*spool_, nullptr, {});
  ASSERT_TRUE(intake);
  Email email;
  email.id = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
  email.state = State::intaking;
  const auto rejection = [&](const std::string& path) {
    email.payload_path = path;
    MessageRoom room;
    return rejection_of((*intake)->work(email, room).value());
  };
  SpoolObject object{SpoolKind::payload, "8888c4a9-0c65-8959-b622-f0ff3604135e", intake_start, payload(""),
                     intake_start + std::chrono::hours(1)};
  EXPECT_THAT(rejection(spool_->write(object).value()), HasSubstr("contents of another e-mail"));
  EXPECT_EQ(rejection(""), "the record of the e-mail names no payload");
  EXPECT_THAT(rejection("2026"), HasSubstr("is not a regular file"));
  EXPECT_THAT(rejection("../files/a.txt"), HasSubstr("is not in the spool")) << "nothing is read outside of it";
  object.id = email.id;
  const std::string path = spool_->write(object).value();
  write_file(directory_.path() / "spool" / path, "damaged");
  EXPECT_THAT(rejection(path), HasSubstr("is damaged"));
}

// Another server may have written it into another spool.
TEST_F(IntakeTest, APayloadThatIsNotInTheSpoolIsAwaited) {
  base::ManualClock clock(intake_start);
  MissingContents missing(clock);
  auto intake = Intake::create(*spool_, nullptr, {}, &missing);
  ASSERT_TRUE(intake);
  Email email;
  email.id = "e1";
  email.state = State::intaking;
  email.sender = "ann@example.com";
  email.created_at = intake_start;
  email.payload_path = "2026/11/gone.json";
  MessageRoom room;
  EXPECT_TRUE(is_awaited((*intake)->work(email, room).value()));
  EXPECT_THAT(missing.problem().value_or(""), HasSubstr("such as e1 ("));
  email.id = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
  const SpoolObject object{SpoolKind::payload, email.id, intake_start, payload(""),
                           intake_start + std::chrono::hours(1)};
  missing.miss(email.id, "not yet");
  email.payload_path = spool_->write(object).value();
  EXPECT_FALSE(message_of((*intake)->work(email, room).value()).empty());
  missing.found("e1");
  EXPECT_FALSE(missing.problem()) << "the other one has come";
}

}  // namespace
}  // namespace postino::outbox
