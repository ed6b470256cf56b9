#include "outbox/ledger/directory_spool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/temporary_directory.h"
#include "objects/written_files_testing.h"

namespace postino::outbox {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using objects::error_text;
using objects::write_file;
using testing::HasSubstr;

constexpr base::TimePoint spool_start{base::Milliseconds(1'794'735'000'000)};  // 2026-11-15T09:30:00Z

class DirectorySpoolTest : public testing::Test {
 protected:
  DirectorySpoolTest() {
    auto opened = DirectorySpool::open(directory_.path() / "a" / "spool", random_);
    EXPECT_TRUE(opened) << error_text(opened);
    if (opened) spool_ = *std::move(opened);
  }
  static SpoolObject object(std::string bytes, base::TimePoint keep_until = spool_start + std::chrono::hours(24)) {
    return {SpoolKind::payload, "e1", spool_start, std::move(bytes), keep_until};
  }

  base::TemporaryDirectory directory_;
  base::SeededRandom random_{1};
  std::unique_ptr<DirectorySpool> spool_;
};

TEST_F(DirectorySpoolTest, KeepsWhatWasWritten) {
  const auto path = spool_->write(object("one"));
  ASSERT_TRUE(path) << error_text(path);
  EXPECT_THAT(*path, testing::MatchesRegex("2026/11/e1-[0-9a-f]{16}\\.json"));
  const auto second = spool_->write(object("two"));
  ASSERT_TRUE(second);
  EXPECT_NE(*path, *second) << "nothing is overwritten";
  EXPECT_EQ(spool_->read(*path).value_or("-"), "one");
  EXPECT_EQ(spool_->read(*second).value_or("-"), "two");
  SpoolObject message = object("m");
  message.kind = SpoolKind::message;
  EXPECT_THAT(spool_->write(message).value_or(""), testing::EndsWith(".eml"));
}

TEST_F(DirectorySpoolTest, DamagedContentsAreNotGivenOut) {
  const auto path = spool_->write(object("pay 1000 EUR"));
  ASSERT_TRUE(path);
  for (const char* damaged : {"pay 9000 EUR", "pay 1", ""}) {
    write_file(directory_.path() / "a" / "spool" / *path, damaged);
    const auto read = spool_->read(*path);
    ASSERT_FALSE(read) << damaged;
    EXPECT_EQ(read.error().code, ErrorCode::corrupt);
  }
  write_file(directory_.path() / "a" / "spool" / *path, "pay 1000 EUR");
  EXPECT_TRUE(spool_->read(*path));
}

TEST_F(DirectorySpoolTest, ContentsOfEarlierVersionsHaveNoSum) {
  const fs::path folder = directory_.path() / "a" / "spool" / "2026" / "11";
  fs::create_directories(folder);
  write_file(folder / "e1-01234567.json", "from before");
  EXPECT_EQ(spool_->read("2026/11/e1-01234567.json").value_or("-"), "from before");
}

TEST_F(DirectorySpoolTest, AnotherDirectoryInItsPlaceIsNoticed) {
  const fs::path data = directory_.path() / "data";
  fs::create_directories(data);
  ASSERT_TRUE(spool_->be_noted_in(data));
  EXPECT_TRUE(spool_->be_noted_in(data)) << "again";
  fs::create_directories(directory_.path() / "data2");
  EXPECT_TRUE(spool_->be_noted_in(directory_.path() / "data2")) << "a second server";

  const auto empty = DirectorySpool::open(directory_.path() / "b", random_);
  ASSERT_TRUE(empty);
  const auto noted = (*empty)->be_noted_in(data);
  ASSERT_FALSE(noted);
  EXPECT_EQ(noted.error().code, ErrorCode::invalid);
  EXPECT_THAT(noted.error().message, HasSubstr("Is it mounted?"));
  EXPECT_FALSE(fs::exists(directory_.path() / "b" / "POSTINO-SPOOL")) << "nothing was changed";
  fs::remove(data / "SPOOL");
  EXPECT_TRUE((*empty)->be_noted_in(data)) << "on purpose";
}

TEST_F(DirectorySpoolTest, IsPrivate) {
  struct stat status {};
  ASSERT_EQ(::stat((directory_.path() / "a" / "spool").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST_F(DirectorySpoolTest, WhatItDoesNotHaveIsReadFromTheFormerSpool) {
  const auto former = DirectorySpool::open(directory_.path() / "former", random_);
  ASSERT_TRUE(former);
  const auto old = (*former)->write(object("old"));
  ASSERT_TRUE(old);
  SpoolWithFormer both(*spool_, **former);
  EXPECT_EQ(both.read(*old).value_or("-"), "old");
  const auto fresh = both.write(object("fresh"));
  ASSERT_TRUE(fresh);
  EXPECT_EQ(spool_->read(*fresh).value_or("-"), "fresh");
  EXPECT_TRUE(both.remove(*old));
  EXPECT_EQ(both.read(*old).error().code, ErrorCode::not_found);
  EXPECT_EQ(both.remove(*old).error().code, ErrorCode::not_found);
}

// It may have what is asked for, so that trouble with it does not mean that there is nothing.
TEST_F(DirectorySpoolTest, TroubleWithTheFormerSpoolIsNotTakenForAbsence) {
  const auto former = DirectorySpool::open(directory_.path() / "former", random_);
  ASSERT_TRUE(former);
  const auto old = (*former)->write(object("old"));
  ASSERT_TRUE(old);
  const fs::path file = directory_.path() / "former" / *old;
  write_file(file, "damaged");
  SpoolWithFormer both(*spool_, **former);
  EXPECT_EQ(both.read(*old).error().code, ErrorCode::corrupt);
  fs::remove(file);
  fs::create_symlink(directory_.path() / "elsewhere", file);
  EXPECT_EQ(both.read(*old).error().code, ErrorCode::io);
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_EQ(both.read(*old).error().code, ErrorCode::not_found);
}

TEST_F(DirectorySpoolTest, WhatIsNotAdmittedIsNotRead) {
  const auto path = spool_->write(object("1234567"));
  ASSERT_TRUE(path);
  std::size_t asked = 0;
  const auto admit = [&](std::size_t bytes) {
    asked = bytes;
    return false;
  };
  const auto fresh = DirectorySpool::open(directory_.path() / "fresh", random_);
  ASSERT_TRUE(fresh);
  SpoolWithFormer both(**fresh, *spool_);
  for (Spool* spool : std::initializer_list<Spool*>{spool_.get(), &both}) {
    EXPECT_EQ(spool->read_if(*path, admit).error().code, ErrorCode::exhausted);
    EXPECT_EQ(std::exchange(asked, 0), 7U);
  }
}

// Of an e-mail whose record another program may have damaged.
class ContentsTest : public DirectorySpoolTest {
 protected:
  ContentsTest() {
    own_.id = "0d9f1c1e-6a5b-4a4e-9a35-0f6a3a0c7b11";
    SpoolObject other = own_;
    other.id = "8888c4a9-0c65-8959-b622-f0ff3604135e";
    SpoolObject message = own_;
    message.kind = SpoolKind::message;
    payload_path_ = spool_->write(own_).value_or("");
    message_path_ = spool_->write(message).value_or("");
    other_path_ = spool_->write(other).value_or("");
  }
  base::Result<std::string> read(SpoolKind kind, const std::string& path) {
    return read_contents(*spool_, kind, own_.id, path, [](std::size_t) { return true; });
  }
  std::string refusal(SpoolKind kind, const std::string& path) {
    const auto contents = read(kind, path);
    if (contents) return "none";
    EXPECT_EQ(contents.error().code, ErrorCode::corrupt) << path;
    return contents.error().message;
  }

  SpoolObject own_ = object("contents");
  std::string payload_path_;
  std::string message_path_;
  std::string other_path_;
};

TEST_F(ContentsTest, ThatAreTooLargeAreNotRead) {
  for (const auto& [kind, path, megabytes] :
       {std::tuple(SpoolKind::payload, payload_path_, 64), std::tuple(SpoolKind::message, message_path_, 256)}) {
    fs::resize_file(directory_.path() / "a" / "spool" / path, (std::uintmax_t(megabytes) << 20) + 1);  // it has a hole
    bool is_asked = false;
    const auto contents = read_contents(*spool_, kind, own_.id, path, [&](std::size_t) { return is_asked = true; });
    ASSERT_FALSE(contents);
    EXPECT_FALSE(is_asked) << "there is no memory for it, whatever is free";
    EXPECT_EQ(contents.error().code, ErrorCode::corrupt);
    EXPECT_THAT(contents.error().message,
                HasSubstr("MB, more than the " + std::to_string(megabytes) + " MB that it may have"));
  }
}

TEST_F(ContentsTest, AreReadByTheirPaths) {
  EXPECT_EQ(read(SpoolKind::payload, payload_path_).value_or("-"), "contents");
  EXPECT_EQ(read(SpoolKind::message, message_path_).value_or("-"), "contents");
  const fs::path spool = directory_.path() / "a" / "spool";
  write_file(spool / "letter 7.txt", "theirs");
  EXPECT_EQ(read(SpoolKind::payload, "letter 7.txt").value_or("-"), "theirs") << "other programs have other names";
  write_file(spool / "0D9F1C1E-6A5B-4A4E-9A35-0F6A3A0C7B11.json", "theirs");
  EXPECT_EQ(read(SpoolKind::payload, (spool / "0D9F1C1E-6A5B-4A4E-9A35-0F6A3A0C7B11.json").string()).value_or("-"),
            "theirs");
}

TEST_F(ContentsTest, APathThatCannotBeTheirsIsNotRead) {
  EXPECT_EQ(refusal(SpoolKind::payload, ""), "the record of the e-mail names no payload");
  EXPECT_EQ(refusal(SpoolKind::message, ""), "the record of the e-mail names no message");
  EXPECT_EQ(refusal(SpoolKind::payload, payload_path_ + std::string(1, '\0')),
            "the record of the e-mail names a payload that cannot be");
  EXPECT_EQ(refusal(SpoolKind::payload, other_path_),
            "the record of the e-mail names contents of another e-mail as its payload");
  EXPECT_EQ(refusal(SpoolKind::message, (directory_.path() / "a" / "spool" / other_path_).string()),
            "the record of the e-mail names contents of another e-mail as its message");
  EXPECT_EQ(refusal(SpoolKind::message, payload_path_), "the record of the e-mail names its payload as its message");
  EXPECT_EQ(refusal(SpoolKind::payload, message_path_), "the record of the e-mail names its message as its payload");
  EXPECT_THAT(refusal(SpoolKind::payload, "2026"), HasSubstr("is not a regular file"));
}

TEST_F(ContentsTest, NothingOutsideOfTheSpoolIsRead) {
  write_file(directory_.path() / "secret.txt", "outside");
  const std::string spool = (directory_.path() / "a" / "spool").string();
  for (const std::string& path :
       {std::string("../../secret.txt"), spool + "/../../secret.txt", (directory_.path() / "secret.txt").string(),
        spool + "/" + (directory_.path() / "secret.txt").string()})
    EXPECT_EQ(read(SpoolKind::message, path).error().code, ErrorCode::corrupt) << path;
  EXPECT_EQ(read(SpoolKind::message, std::string(5'000, 'n')).error().code, ErrorCode::not_found);
}

TEST_F(DirectorySpoolTest, ThatTakesNoWritesSaysSoUntilItDoes) {
  const fs::path year = directory_.path() / "a" / "spool" / "2026";
  EXPECT_EQ(spool_->problem(), std::nullopt);
  write_file(year, "in the way");
  EXPECT_FALSE(spool_->write(object("one")));
  EXPECT_THAT(spool_->problem().value_or(""), HasSubstr("the spool takes no writes: cannot create 2026/11/e1-"));
  std::string metrics;
  spool_->append_metrics(metrics);
  EXPECT_THAT(metrics, HasSubstr("\npostino_spool_writes_refused 1\n"));
  spool_->look_after_problem();
  EXPECT_NE(spool_->problem(), std::nullopt) << "it is still in the way";
  fs::remove(year);
  spool_->look_after_problem();
  EXPECT_EQ(spool_->problem(), std::nullopt);
  EXPECT_TRUE(fs::is_empty(year / "11")) << "nothing is left of the attempt";
  metrics.clear();
  spool_->append_metrics(metrics);
  EXPECT_THAT(metrics, HasSubstr("\npostino_spool_writes_refused 0\n"));
}

TEST_F(DirectorySpoolTest, RemovedAndUnknownObjectsAreNotFound) {
  const auto path = spool_->write(object("one"));
  ASSERT_TRUE(path);
  EXPECT_TRUE(spool_->remove(*path));
  EXPECT_EQ(spool_->read(*path).error().code, ErrorCode::not_found);
  EXPECT_EQ(spool_->remove(*path).error().code, ErrorCode::not_found);
  EXPECT_EQ(spool_->read("../../x").error().code, ErrorCode::not_found);
}

TEST_F(DirectorySpoolTest, SweepsWhatIsOver) {
  const auto early = spool_->write(object("early", spool_start + std::chrono::seconds(10)));
  const auto late = spool_->write(object("late", spool_start + std::chrono::seconds(20)));
  ASSERT_TRUE(early && late);
  EXPECT_EQ(spool_->sweep(spool_start + std::chrono::seconds(10)).value_or(-1), 0);
  EXPECT_EQ(spool_->sweep(spool_start + std::chrono::seconds(11)).value_or(-1), 1);
  EXPECT_FALSE(spool_->read(*early));
  EXPECT_TRUE(spool_->read(*late));
}

TEST_F(DirectorySpoolTest, WhatIsNeededIsNotSwept) {
  SpoolObject needed = object("needed", spool_start);
  needed.id = "0d9f1c1e-6a5b-4a4e-9a35-0f6a3a0c7b11";
  const auto path = spool_->write(needed);
  const auto other = spool_->write(object("other", spool_start));
  ASSERT_TRUE(path && other);
  const auto is_needed = [&](const std::string& id) { return id == needed.id; };
  EXPECT_EQ(spool_->sweep(spool_start + std::chrono::hours(1), is_needed).value_or(-1), 1);
  EXPECT_TRUE(spool_->read(*path));
  EXPECT_FALSE(spool_->read(*other));
}

TEST_F(DirectorySpoolTest, PayloadsOfOtherProgramsAreReadAndNotSweptAway) {
  const fs::path spool = directory_.path() / "a" / "spool";
  const std::string name = "8888c4a9-0c65-8959-b622-f0ff3604135e.json";
  fs::create_directories(spool / "2026" / "11");
  write_file(spool / "2026" / "11" / name, "theirs");
  EXPECT_EQ(spool_->sweep(spool_start + std::chrono::hours(24 * 3'650)).value_or(-1), 0);
  EXPECT_EQ(spool_->read("2026/11/" + name).value_or("-"), "theirs");
}

TEST_F(DirectorySpoolTest, ARelativeDirectoryIsBelowTheWorkingDirectory) {
  const fs::path directory = directory_.path() / "relative";
  const fs::path given = fs::relative(directory);
  ASSERT_TRUE(given.is_relative());
  const auto spool = DirectorySpool::open(given, random_);
  ASSERT_TRUE(spool) << error_text(spool);
  write_file(directory / "theirs.json", "contents");
  EXPECT_EQ((*spool)->read("theirs.json").value_or("-"), "contents");
  EXPECT_EQ((*spool)->read((given / "theirs.json").string()).value_or("-"), "contents");
  EXPECT_EQ((*spool)->read((directory / "theirs.json").string()).value_or("-"), "contents") << "named in full";
}

TEST_F(DirectorySpoolTest, SweepLeavesFilesThatAreBeingWritten) {
  const fs::path unfinished = directory_.path() / "a" / "spool" / "x.json.part";
  write_file(unfinished, "half");
  const auto now = std::chrono::time_point_cast<base::Milliseconds>(
      std::chrono::file_clock::to_sys(fs::last_write_time(unfinished)));
  EXPECT_EQ(spool_->sweep(now + std::chrono::hours(23)).value_or(-1), 0);
  EXPECT_TRUE(fs::exists(unfinished));
  EXPECT_EQ(spool_->sweep(now + std::chrono::hours(25)).value_or(-1), 1) << "its writer is long gone";
}

// A link could lead anywhere. But what it leads to is not lost: the e-mail waits, and the operator is told.
TEST_F(DirectorySpoolTest, LinksInItAreToldOfAndNotFollowed) {
  const fs::path spool = directory_.path() / "a" / "spool";
  const auto path = spool_->write(object("one"));
  ASSERT_TRUE(path);
  fs::rename(spool / *path, directory_.path() / "elsewhere.json");
  fs::create_symlink(directory_.path() / "elsewhere.json", spool / *path);
  const auto linked = spool_->read(*path);
  ASSERT_FALSE(linked);
  EXPECT_EQ(linked.error().code, ErrorCode::io);
  EXPECT_THAT(linked.error().message, HasSubstr(*path + " of the spool is a symbolic link"));
  EXPECT_EQ(spool_->sweep(spool_start + std::chrono::hours(24 * 3'650)).value_or(-1), 0);
  EXPECT_TRUE(fs::is_symlink(spool / *path));

  fs::rename(spool / "2026", directory_.path() / "2026");
  fs::create_directory_symlink(directory_.path() / "2026", spool / "2026");
  EXPECT_THAT(error_text(spool_->read(*path)), HasSubstr("in a directory that is one"));
  const auto written = spool_->write(object("two"));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::io);
  EXPECT_THAT(written.error().message, HasSubstr("no link in the spool is followed"));
  EXPECT_EQ(spool_->problem(), "the spool takes no writes: " + written.error().message);
}

TEST_F(DirectorySpoolTest, AMarkerThatIsALinkIsToldOf) {
  const fs::path data = directory_.path() / "data";
  fs::create_directories(data);
  ASSERT_TRUE(spool_->be_noted_in(data));
  const fs::path marker = directory_.path() / "a" / "spool" / "POSTINO-SPOOL";
  fs::rename(marker, directory_.path() / "marker");
  fs::create_symlink(directory_.path() / "marker", marker);
  EXPECT_THAT(error_text(spool_->be_noted_in(data)), HasSubstr("POSTINO-SPOOL of the spool is a symbolic link"));
}

TEST_F(DirectorySpoolTest, MayItselfBeALink) {
  const fs::path link = directory_.path() / "link";
  fs::create_directory_symlink(directory_.path() / "a" / "spool", link);
  const auto by_link = DirectorySpool::open(link, random_);
  ASSERT_TRUE(by_link) << error_text(by_link);
  const auto path = (*by_link)->write(object("one"));
  ASSERT_TRUE(path) << error_text(path);
  EXPECT_EQ(spool_->read(*path).value_or("-"), "one");
  // Other programs name their files in full, by the link or without it.
  EXPECT_EQ((*by_link)->read((link / *path).string()).value_or("-"), "one");
  EXPECT_EQ((*by_link)->read((fs::canonical(link) / *path).string()).value_or("-"), "one");
  EXPECT_EQ((*by_link)->sweep(spool_start + std::chrono::hours(25)).value_or(-1), 1);
}

TEST_F(DirectorySpoolTest, ALinkToNothingIsAnError) {
  fs::create_directory_symlink(directory_.path() / "nothing", directory_.path() / "dangling");
  const auto opened = DirectorySpool::open(directory_.path() / "dangling", random_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::io);
  EXPECT_THAT(opened.error().message, HasSubstr("cannot create the spool"));
}

TEST_F(DirectorySpoolTest, ADirectoryThatCannotBeMadeIsAnError) {
  write_file(directory_.path() / "file", "");
  const auto opened = DirectorySpool::open(directory_.path() / "file" / "spool", random_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::io);
}

}  // namespace
}  // namespace postino::outbox
