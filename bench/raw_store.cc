#include "raw_store.h"

#include <thread>
#include <vector>

#include "base/check.h"
#include "engine/storage/stored_item.h"
#include "mails.h"

namespace postino::bench {

namespace {

// As long as what the engine puts before an identifier: table, hash, length.
constexpr std::string_view key_prefix = "0123456789";

const rocksdb::WriteOptions& synced() {
  static const rocksdb::WriteOptions options = [] {
    rocksdb::WriteOptions result;
    result.sync = true;
    return result;
  }();
  return options;
}

void check(const rocksdb::Status& status) { CHECK(status.ok()); }

}  // namespace

std::string raw_key(std::uint64_t number) { return std::string(key_prefix) + mail_id(number); }

std::string raw_conversation_prefix(std::uint64_t conversation) {
  return std::string(key_prefix) + conversation_id(conversation);
}

RawMail::RawMail()
    : key_(raw_key(0)), value_(engine::store_item(make_mail(0))->bytes), body_(value_.find(mail_body(0))) {
  CHECK(body_ != std::string::npos);
}

void RawMail::become(std::uint64_t number) {
  key_.replace(key_prefix.size(), std::string::npos, mail_id(number));
  value_.replace(body_, body_size, mail_body(number));
}

RawStore::RawStore(std::filesystem::path directory) : directory_(std::move(directory)) { reopen(); }

void RawStore::reopen() {
  database_.reset();
  engine::Options options;
  options.directory = directory_;
  auto opened = engine::Database::open(options, nullptr);
  CHECK(opened);
  database_ = std::move(*opened);
}

void RawStore::load(std::uint64_t count) {
  constexpr int threads = 16;
  std::vector<std::jthread> loaders;
  for (int i = 0; i < threads; ++i)
    loaders.emplace_back([&] {
      const Operation insert = inserting_batches(25);
      while (next_ < count) insert();
    });
}

void RawStore::load_conversations(std::uint64_t count) {
  RawMail mail;
  for (std::uint64_t number = 0; number < count * mails_per_conversation; ++number) {
    mail.become(number);
    check(rocks().Put({}, items(), raw_conversation_prefix(number / mails_per_conversation) + mail_id(number),
                      mail.value()));
  }
}

Operation RawStore::inserting() {
  return [this, mail = std::make_shared<RawMail>()] {
    mail->become(next_++);
    check(rocks().Put(synced(), items(), mail->key(), mail->value()));
  };
}

Operation RawStore::inserting_batches(int size) {
  return [this, size, mail = std::make_shared<RawMail>()] {
    rocksdb::WriteBatch batch;
    std::uint64_t number = next_.fetch_add(static_cast<std::uint64_t>(size));
    for (int i = 0; i < size; ++i) {
      mail->become(number++);
      check(batch.Put(items(), mail->key(), mail->value()));
    }
    check(rocks().Write(synced(), &batch));
  };
}

Operation RawStore::replacing(std::uint64_t count) {
  return [this, count, random = RandomNumbers(), mail = std::make_shared<RawMail>()]() mutable {
    mail->become(random.next() % count);
    check(rocks().Put(synced(), items(), mail->key(), mail->value()));
  };
}

Operation RawStore::reading_and_replacing(std::uint64_t count) {
  return [this, count, random = RandomNumbers(), mail = std::make_shared<RawMail>()]() mutable {
    mail->become(random.next() % count);
    rocksdb::PinnableSlice value;
    check(rocks().Get({}, items(), mail->key(), &value));
    check(rocks().Put(synced(), items(), mail->key(), mail->value()));
  };
}

Operation RawStore::getting(std::uint64_t count) {
  return [this, count, random = RandomNumbers()]() mutable {
    rocksdb::PinnableSlice value;
    check(rocks().Get({}, items(), raw_key(random.next() % count), &value));
    CHECK(value.size() >= mail_size);
  };
}

Operation RawStore::scanning(std::uint64_t conversations) {
  return [this, conversations, random = RandomNumbers(), bytes = std::string()]() mutable {
    const std::string prefix = raw_conversation_prefix(random.next() % conversations);
    const std::string end = prefix + '\xff';
    const rocksdb::Slice upper(end);
    rocksdb::ReadOptions options;
    options.iterate_upper_bound = &upper;
    const std::unique_ptr<rocksdb::Iterator> entries(rocks().NewIterator(options, items()));
    std::uint64_t count = 0;
    for (entries->Seek(prefix); entries->Valid(); entries->Next(), ++count) {
      bytes.assign(entries->key().data(), entries->key().size());
      bytes.append(entries->value().data(), entries->value().size());
    }
    CHECK(count == mails_per_conversation);
  };
}

}  // namespace postino::bench
