// Backups as a whole: written, verified and restored, and what enemies do to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backup/file_restore.h"
#include "backup/place_testing.h"
#include "backup/retention.h"
#include "base/hash.h"
#include "sealing/aes_gcm.h"

namespace postino::backup {
namespace {

using testing::HasSubstr;
using testing::Not;

class WholeBackupTest : public BackupTest, public testing::WithParamInterface<bool> {
 protected:
  std::optional<MasterKey> master() const { return GetParam() ? std::optional(master_key('a')) : std::nullopt; }
  std::map<std::string, std::string> restore(const std::string& id) {
    const base::TemporaryDirectory target;
    auto reader = BackupReader::open(place_, id, master());
    EXPECT_TRUE(reader) << error_of(reader);
    const auto restored = restore_files(*reader, target.path());
    EXPECT_TRUE(restored) << error_of(restored);
    return files_of(target.path());
  }
  Verification verify(const std::string& id) {
    auto verified = verify_backup(place_, id, master());
    EXPECT_TRUE(verified) << error_of(verified);
    return verified ? *verified : Verification();
  }
  void fill() {
    put_file("store/CURRENT", "MANIFEST-000004\n");
    put_file("store/000012.sst", contents_of(1, (4 << 20) + 1'000));
    put_file("store/000013.sst", contents_of(2, 300'000));
    put_file("empty", "");
    for (int i = 0; i < 100; ++i) put_file("spool/2026/01/" + std::to_string(i) + ".eml", contents_of(100 + i, 3'000));
  }
};
INSTANTIATE_TEST_SUITE_P(Forms, WholeBackupTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Sealed" : "Plain"; });

TEST_P(WholeBackupTest, IsRestoredAsItWas) {
  fill();
  const auto before = files_of(source_.path());
  const Manifest written = write(master());
  EXPECT_EQ(written.files, 104u);
  EXPECT_TRUE(verify(written.id).sound());
  EXPECT_EQ(verify(written.id).bytes, written.bytes);
  EXPECT_EQ(restore(written.id), before);
}

TEST_P(WholeBackupTest, KeepsTheTimesOfFiles) {
  put_file("spool/a.eml", "letter");
  const auto kept_until = std::filesystem::file_time_type::clock::from_sys(
      std::chrono::sys_time<base::Milliseconds>(base::Milliseconds(1'900'000'000'123)));
  std::filesystem::last_write_time(source_.path() / "spool/a.eml", kept_until);
  const Manifest written = write(master());
  const base::TemporaryDirectory target;
  auto reader = BackupReader::open(place_, written.id, master());
  ASSERT_TRUE(restore_files(*reader, target.path()));
  EXPECT_EQ(std::filesystem::last_write_time(target.path() / "spool/a.eml"), kept_until);
}

TEST_P(WholeBackupTest, WritesOnlyWhatIsNew) {
  fill();
  const Manifest first = write(master());
  EXPECT_GE(first.new_bytes, first.bytes);
  const Manifest second = write(master());
  EXPECT_EQ(second.new_bytes, 0u);
  put_file("store/000014.sst", contents_of(3, 1'000'000));
  const Manifest third = write(master());
  EXPECT_GE(third.new_bytes, 1'000'000u);
  EXPECT_LT(third.new_bytes, 1'500'000u) << "and the list of files";
  EXPECT_EQ(restore(first.id).count("store/000014.sst"), 0u);
  EXPECT_EQ(restore(third.id), files_of(source_.path()));
}

TEST_P(WholeBackupTest, WritesAFewPacksWhenASmallFileComesOrGoes) {
  fill();
  write(master());
  put_file("spool/2026/01/55.eml", "");
  put_file("spool/2026/01/100.eml", contents_of(999, 3'000));
  EXPECT_LT(write(master()).new_bytes, 300'000u);
}

TEST_P(WholeBackupTest, TellsEveryObjectThatIsMissingCutChangedOrAnotherOnes) {
  put_file("store/000013.sst", contents_of(2, 300'000));
  for (int i = 0; i < 20; ++i) put_file("spool/" + std::to_string(i) + ".eml", contents_of(100 + i, 3'000));
  const Manifest written = write(master());
  std::string other;
  for (const std::string& name : objects_.names("mine/chunks/")) {
    const std::string whole = *objects_.get(name);
    const auto expect_problem = [&](const char* what) {
      const auto verified = verify_backup(place_, written.id, master());
      ASSERT_TRUE(verified) << error_of(verified);
      EXPECT_FALSE(verified->sound()) << what;
      const base::TemporaryDirectory target;
      auto reader = BackupReader::open(place_, written.id, master());
      ASSERT_TRUE(reader);
      EXPECT_FALSE(restore_files(*reader, target.path())) << what;
    };
    std::string changed = whole;
    changed[changed.size() / 2] = static_cast<char>(changed[changed.size() / 2] ^ 4);
    ASSERT_TRUE(objects_.put(name, changed));
    expect_problem("changed");
    ASSERT_TRUE(objects_.put(name, whole.substr(0, whole.size() - 1)));
    expect_problem("cut");
    ASSERT_TRUE(objects_.put(name, ""));
    expect_problem("emptied");
    if (!other.empty()) {
      ASSERT_TRUE(objects_.put(name, other));
      expect_problem("another one's");
    }
    ASSERT_TRUE(objects_.remove(name));
    expect_problem("missing");
    ASSERT_TRUE(objects_.put(name, whole));
    other = whole;
  }
  EXPECT_TRUE(verify(written.id).sound());
}

TEST_P(WholeBackupTest, SaysWhichFileAndWhatIsWrongWithIt) {
  put_file("store/000012.sst", contents_of(1, 300'000));
  const Manifest written = write(master());
  std::string chunk;
  auto reader = BackupReader::open(place_, written.id, master());
  ASSERT_TRUE(reader->each_file([&](const FileEntry& file) -> base::Result<void> {
    chunk = file.pieces.at(0).chunk;
    return {};
  }));
  ASSERT_TRUE(place_.remove(chunk_object(chunk)));
  EXPECT_THAT(verify(written.id).problems, testing::ElementsAre("store/000012.sst: chunk " + chunk + " is missing"));
  EXPECT_THAT(verify(written.id).damaged, testing::ElementsAre(chunk));
}

TEST_P(WholeBackupTest, HasNoManifestOfAnotherBackup) {
  put_file("a", "one");
  const Manifest first = write(master());
  put_file("a", "two");
  const Manifest second = write(master());
  ASSERT_TRUE(place_.put("backups/" + second.id, *place_.get("backups/" + first.id)));
  EXPECT_THAT(error_of(BackupReader::open(place_, second.id, master())),
              HasSubstr("backup " + second.id + " was changed or cut, or is another one's"));
}

TEST_P(WholeBackupTest, WritesAgainWhatWasFoundDamaged) {
  put_file("store/000012.sst", contents_of(1, 300'000));
  const Manifest first = write(master());
  for (const std::string& name : objects_.names("mine/chunks/")) ASSERT_TRUE(objects_.put(name, "damaged"));
  put_file("b", "more");
  const auto form = form_to_write(place_, master(), random_);
  Manifest begun = first;
  begun.id = make_backup_id(clock_.now(), 77);
  BackupWriter writer(place_, *form, random_, [](const Manifest&) { return base::Result<void>(); });
  std::set<std::string> damaged;
  for (const std::string& name : objects_.names("mine/chunks/")) damaged.insert(name.substr(name.size() - 64));
  writer.distrust(damaged);
  begun.files = begun.bytes = begun.new_bytes = 0;
  begun.list.clear();
  ASSERT_TRUE(writer.write(begun, *files_below(source_.path(), ""), clock_));
  EXPECT_TRUE(verify(begun.id).sound());
}

// Whichever write fails: there is no backup, or a whole one, and those before it are whole.
TEST_P(WholeBackupTest, IsThereAsAWholeOrNotAtAll) {
  put_file("a", "before");
  const Manifest before = write(master());
  put_file("store/000012.sst", contents_of(1, 300'000));
  put_file("store/000013.sst", contents_of(2, 300'000));
  put_file("spool/a.eml", "letter");
  using Fault = objects::MemoryObjects::Fault;
  for (const Fault fault : {Fault::refused, Fault::unknown, Fault::ended_before, Fault::ended_after}) {
    for (int number = 1;; ++number) {
      objects_.fail_at(number, fault);
      const auto tried = try_write(master());
      const bool has_failed = objects_.has_failed();
      objects_.fail_at(0, Fault::none);
      if (!has_failed) break;
      EXPECT_FALSE(tried);
      const auto listed = list_backups(place_, master());
      for (const ListedBackup& each : *listed) EXPECT_TRUE(verify(each.id).sound()) << each.id;
      EXPECT_TRUE(verify(before.id).sound());
      // What is left makes room for the next round's faults.
      EXPECT_TRUE(remove_backups(place_, {}, master(), [] { return base::Result<void>(); }));
    }
  }
}

TEST_P(WholeBackupTest, SaysThatThePlaceIsAway) {
  put_file("a", "one");
  const Manifest written = write(master());
  objects_.set_outage(true);
  EXPECT_THAT(error_of(try_write(master())), HasSubstr("cannot be used"));
  EXPECT_THAT(error_of(verify_backup(place_, written.id, master())), HasSubstr("cannot be used"));
  EXPECT_THAT(error_of(list_backups(place_, master())), HasSubstr("cannot be used"));
}

TEST_F(BackupTest, HidesEverythingWithAMasterKey) {
  put_file("secret-name.txt", "the known text");
  write(master_key('a'));
  for (const std::string& name : objects_.names()) {
    EXPECT_THAT(*objects_.get(name), Not(HasSubstr("known text")));
    EXPECT_THAT(*objects_.get(name), Not(HasSubstr("secret-name")));
  }
}

TEST_F(BackupTest, SaysWhichMasterKeyIsWanted) {
  put_file("a", "one");
  const MasterKey right = master_key('a');
  const MasterKey wrong = master_key('b');
  const Manifest written = write(right);
  EXPECT_EQ(error_of(BackupReader::open(place_, written.id, wrong)),
            "backup " + written.id + " needs master key " + right.id() + ", and this is " + wrong.id());
  EXPECT_EQ(error_of(BackupReader::open(place_, written.id, std::nullopt)),
            "backup " + written.id + " is sealed: it needs master key " + right.id());
  EXPECT_THAT(error_of(try_write(wrong)),
              HasSubstr("sealed by master key " + right.id() + ", and this is " + wrong.id()));
}

TEST_F(BackupTest, TrustsNoPlainBackupWithAMasterKey) {
  put_file("a", "one");
  const Manifest written = write();
  EXPECT_THAT(error_of(BackupReader::open(place_, written.id, master_key('a'))), HasSubstr("is not sealed"));
}

TEST_F(BackupTest, ChangesTheMasterKeyWithoutWritingContents) {
  put_file("a", "one");
  const MasterKey first = master_key('a');
  const MasterKey second = master_key('b');
  const MasterKey third = master_key('c');
  const Manifest written = write(first);
  std::map<std::string, std::string> contents;
  for (const std::string& name : objects_.names("mine/chunks/")) contents[name] = *objects_.get(name);
  EXPECT_EQ(change_master_key(place_, first, second, random_)->sealed, 1);
  EXPECT_EQ(change_master_key(place_, first, second, random_)->already, 1) << "it was interrupted";
  EXPECT_EQ(change_master_key(place_, second, third, random_)->sealed, 1);
  EXPECT_THAT(error_of(change_master_key(place_, first, second, random_)), HasSubstr("needs master key " + third.id()));
  EXPECT_THAT(error_of(BackupReader::open(place_, written.id, first)), HasSubstr("needs master key " + third.id()));
  EXPECT_TRUE(verify_backup(place_, written.id, third)->sound());
  for (const auto& [name, bytes] : contents) EXPECT_EQ(*objects_.get(name), bytes);
  put_file("a", "two");
  EXPECT_TRUE(verify_backup(place_, write(third).id, third)->sound());
}

TEST_F(BackupTest, MissesADataKeyThatIsGone) {
  put_file("a", "one");
  const MasterKey master = master_key('a');
  const Manifest written = write(master);
  for (const std::string& name : objects_.names("mine/keys/")) ASSERT_TRUE(objects_.remove(name));
  EXPECT_THAT(error_of(BackupReader::open(place_, written.id, master)), HasSubstr("not among the keys of this place"));
}

TEST_F(BackupTest, RefusesAListThatLeadsOutOfTheDirectory) {
  for (const char* path : {"../a", "/etc/passwd", "a/../../b", "a//b", "", ".", "a/."}) {
    FileEntry file;
    file.path = path;
    EXPECT_FALSE(decode_file(encode_file(file))) << path;
  }
  EXPECT_TRUE(is_inside("store/\\=odd/=name.json"));
}

TEST_F(BackupTest, RemembersTheVerdict) {
  put_file("a", "one");
  const Manifest written = write();
  auto reader = BackupReader::open(place_, written.id, std::nullopt);
  EXPECT_EQ(reader->verdict(), std::nullopt);
  const Verdict verdict{clock_.now(), false, "a: chunk is missing"};
  ASSERT_TRUE(reader->note(verdict, random_));
  EXPECT_EQ(list_backups(place_, std::nullopt)->at(0).verdict, verdict);
}

TEST(BackupFormat, StaysAsItIs) {
  Manifest manifest;
  manifest.id = "20260102T030405Z-0000002a";
  manifest.store = "a-store";
  manifest.number = 3;
  manifest.taken = base::TimePoint(std::chrono::seconds(1'767'323'045));
  manifest.finished = manifest.taken + std::chrono::seconds(2);
  manifest.program = "0.1.0";
  manifest.files = 1;
  manifest.bytes = 2;
  manifest.new_bytes = 2;
  manifest.list = {{std::string(64, 'a'), 0, 9}};
  const std::string text =
      R"({"format":1,"id":"20260102T030405Z-0000002a","store":"a-store","number":3,"taken":"2026-01-02T03:04:05.000Z",)"
      R"("finished":"2026-01-02T03:04:07.000Z","program":"0.1.0","files":1,"bytes":2,"new_bytes":2,"list":[[")" +
      std::string(64, 'a') + "\",0,9]]}\n";
  EXPECT_EQ(encode_manifest(manifest), text);
  EXPECT_EQ(decode_manifest(text), manifest);
  const FileEntry file{"store/000012.sst", 2, manifest.taken, {{std::string(64, 'b'), 5, 2}}};
  const std::string line = R"({"path":"store/000012.sst","size":2,"modified":"2026-01-02T03:04:05.000Z","pieces":[[")" +
                           std::string(64, 'b') + "\",5,2]]}\n";
  EXPECT_EQ(encode_file(file), line);
  EXPECT_EQ(decode_file(line), file);
  EXPECT_EQ(make_backup_id(manifest.taken, 42), manifest.id);
  base::SeededRandom random(1);
  const std::string object = SealedForm(std::nullopt).encode("name", "contents", random);
  EXPECT_EQ(object.substr(0, 6), std::string("PSTB\1p"));
  EXPECT_EQ(object.substr(6 + 32), "contents");
  const std::string header = object.substr(0, 6);
  EXPECT_EQ(object.substr(6, 32), base::sha256(header + "name\n" + base::sha256("contents")));
}

TEST(BackupFormat, StaysAsItIsWhenSealed) {
  base::SeededRandom random(1);
  const DataKey key{"0123456789abcdef", std::string(32, 'k')};
  const std::string object = SealedForm(key).encode("name", "contents", random);
  const std::string header = std::string("PSTB\1s") + key.id;
  ASSERT_EQ(object.substr(0, 22), header);
  EXPECT_EQ(sealing::unseal(base::hmac_sha256(key.secret, "object name"), object.substr(22), header + "name"),
            "contents");
  EXPECT_EQ(SealedForm(key).chunk_of("contents"),
            base::to_hex(base::hmac_sha256(base::hmac_sha256(key.secret, "names"), base::sha256("contents"))));
  EXPECT_EQ(SealedForm(std::nullopt).chunk_of("contents"), base::to_hex(base::sha256("contents")));
}

TEST(MasterKeyText, MustBeWhole) {
  EXPECT_TRUE(MasterKey::parse(" " + std::string(64, 'F') + "\n"));
  EXPECT_EQ(MasterKey::parse(std::string(64, 'F'))->id(), MasterKey::parse(std::string(64, 'f'))->id());
  for (const std::string& text : {std::string(), std::string(63, 'a'), std::string(65, 'a'), std::string(64, 'g')})
    EXPECT_FALSE(MasterKey::parse(text)) << text;
  EXPECT_NE(master_key('a').id(), master_key('b').id());
}

}  // namespace
}  // namespace postino::backup
