#include "mail/dkim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <fstream>
#include <map>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "base/temporary_directory.h"
#include "base/text.h"
#include "mail/message.h"

namespace postino::mail {
namespace {

using testing::HasSubstr;

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

// The keys of the tests, and the files they are in.
class KeyFile {
 public:
  explicit KeyFile(EVP_PKEY* key, const EVP_CIPHER* cipher = nullptr) : key_(key, &EVP_PKEY_free) {
    std::FILE* file = std::fopen(path().c_str(), "w");
    char passphrase[] = "secret";
    PEM_write_PrivateKey(file, key_.get(), cipher, nullptr, 0, nullptr, cipher == nullptr ? nullptr : passphrase);
    std::fclose(file);
  }
  std::string path() const { return (directory_.path() / "key.pem").string(); }
  EVP_PKEY* key() const { return key_.get(); }
  DkimOptions options() const { return {"example.com", "s2026", path()}; }

 private:
  base::TemporaryDirectory directory_;
  Key key_;
};

const KeyFile& rsa_key() {
  static const KeyFile key(EVP_RSA_gen(2048));
  return key;
}

std::string without(std::string text, std::string_view letters) {
  std::erase_if(text, [&](char letter) { return letters.find(letter) != std::string_view::npos; });
  return text;
}

std::string from_base64(const std::string& text) {
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  EXPECT_GE(size, 0) << text;
  bytes.resize(bytes.size() - static_cast<std::size_t>(std::count(text.begin(), text.end(), '=')));
  return bytes;
}

// A verifier of our own, after RFC 6376 alone: section 3.4 for the canonical forms, 3.7 for the hashes.
class Verifier {
 public:
  explicit Verifier(const std::string& message) {
    const std::size_t end = message.find("\r\n\r\n");
    EXPECT_NE(end, std::string::npos);
    body_ = message.substr(end + 4);
    std::string_view head = std::string_view(message).substr(0, end + 2);
    while (!head.empty()) {
      std::size_t stop = head.find("\r\n");
      while (stop + 2 < head.size() && (head[stop + 2] == ' ' || head[stop + 2] == '\t'))
        stop = head.find("\r\n", stop + 2);
      headers_.emplace_back(head.substr(0, stop));
      head.remove_prefix(stop + 2);
    }
    EXPECT_TRUE(headers_.front().starts_with("DKIM-Signature: "));
    std::string_view rest = std::string_view(headers_.front()).substr(15);
    while (!rest.empty()) {
      const std::size_t semicolon = std::min(rest.find(';'), rest.size());
      const std::string tag = without(std::string(rest.substr(0, semicolon)), " \t\r\n");
      tags_[tag.substr(0, tag.find('='))] = tag.substr(tag.find('=') + 1);
      rest.remove_prefix(std::min(semicolon + 1, rest.size()));
    }
  }

  const std::string& tag(const std::string& name) { return tags_[name]; }

  bool body_hash_matches() { return from_base64(tag("bh")) == base::sha256(relaxed_body()); }

  bool signature_matches(EVP_PKEY* key) {
    std::string input;
    std::map<std::string, std::size_t> seen;  // the last header of a name is signed first
    std::string_view names = tag("h");
    while (!names.empty()) {
      const std::size_t colon = std::min(names.find(':'), names.size());
      const std::string name = base::lower_case(names.substr(0, colon));
      if (const std::string* header = from_the_end(name, seen[name]++)) input += relaxed_header(*header) + "\r\n";
      names.remove_prefix(std::min(colon + 1, names.size()));
    }
    std::string own = relaxed_header(headers_.front());
    own.erase(own.find(" b=") + 3);  // b is the last tag; its value counts as empty
    input += own;

    const std::string signature = from_base64(tag("b"));
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    EVP_DigestVerifyInit(context, nullptr, EVP_sha256(), nullptr, key);
    const int verdict =
        EVP_DigestVerify(context, reinterpret_cast<const unsigned char*>(signature.data()), signature.size(),
                         reinterpret_cast<const unsigned char*>(input.data()), input.size());
    EVP_MD_CTX_free(context);
    return verdict == 1;
  }

 private:
  static std::string relaxed_line(std::string_view line) {
    std::string result;
    for (const char letter : line) {
      const bool blank = letter == ' ' || letter == '\t';
      if (blank && result.ends_with(' ')) continue;
      result.push_back(blank ? ' ' : letter);
    }
    while (result.ends_with(' ')) result.pop_back();
    return result;
  }
  static std::string relaxed_header(const std::string& header) {
    const std::size_t colon = header.find(':');
    std::string value = relaxed_line(without(header.substr(colon + 1), "\r\n"));
    if (value.starts_with(' ')) value.erase(0, 1);
    return base::lower_case(header.substr(0, colon)) + ":" + value;
  }
  std::string relaxed_body() const {
    std::string result;
    std::string_view rest = body_;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find("\r\n"), rest.size());
      result += relaxed_line(rest.substr(0, end)) + "\r\n";
      rest.remove_prefix(std::min(end + 2, rest.size()));
    }
    while (result.ends_with("\r\n\r\n")) result.resize(result.size() - 2);
    return result == "\r\n" ? "" : result;
  }
  const std::string* from_the_end(const std::string& name, std::size_t skip) const {
    for (auto header = headers_.rbegin(); header != headers_.rend() - 1; ++header)
      if (base::lower_case(header->substr(0, header->find(':'))) == name && skip-- == 0) return &*header;
    return nullptr;
  }

  std::vector<std::string> headers_;
  std::string body_;
  std::map<std::string, std::string> tags_;
};

std::string sample_message() {
  Message message;
  message.from = {"Zoë Postino", "zoe@example.com"};
  message.reply_to = Mailbox{"", "desk@example.com"};
  message.to = {{"Ann", "ann@example.org"}};
  message.cc = {{"", "bob@example.org"}};
  message.subject = "Überfällige Rechnung, with a subject that is long enough to be folded over several lines";
  message.text = "Dear Ann,\n\n.\nplease  pay \t soon.  \n\n\n";
  message.html = "<p>Dear Ann</p>";
  message.headers = {{"References", "<a@example.com> <b@example.com>"}, {"X-Own", "not signed"}};
  message.list_unsubscribe = ListUnsubscribe{"https://example.com/u/1", ""};
  message.message_id = "1@example.com";
  message.date = base::from_epoch_milliseconds(1'794'735'000'000);
  return build_message(message).value();
}

std::unique_ptr<DkimSigner> signer() { return DkimSigner::create(rsa_key().options()).value(); }

TEST(Dkim, TheSignatureHoldsForAnIndependentVerifier) {
  const std::string message = sample_message();
  const std::string signed_message = signer()->sign(message).value();
  ASSERT_TRUE(signed_message.ends_with(message)) << "the message itself stays as it is";
  Verifier verifier(signed_message);
  EXPECT_TRUE(verifier.body_hash_matches());
  EXPECT_TRUE(verifier.signature_matches(rsa_key().key()));
}

TEST(Dkim, SaysWhoSignedWhatAndHow) {
  Verifier verifier(signer()->sign(sample_message()).value());
  EXPECT_EQ(verifier.tag("v"), "1");
  EXPECT_EQ(verifier.tag("a"), "rsa-sha256");
  EXPECT_EQ(verifier.tag("c"), "relaxed/relaxed");
  EXPECT_EQ(verifier.tag("d"), "example.com");
  EXPECT_EQ(verifier.tag("s"), "s2026");
  EXPECT_EQ(verifier.tag("l"), "") << "the whole body is signed";
  const std::string names = ":" + base::lower_case(verifier.tag("h")) + ":";
  for (const std::string name : {"from", "reply-to", "to", "cc", "subject", "date", "message-id", "mime-version",
                                 "content-type", "list-unsubscribe", "list-unsubscribe-post", "references"})
    EXPECT_THAT(names, HasSubstr(":" + name + ":"));
  EXPECT_THAT(names, testing::Not(HasSubstr(":x-own:")));
}

TEST(Dkim, AChangeBreaksTheSignature) {
  const std::string signed_message = signer()->sign(sample_message()).value();
  const auto changed = [&](std::string_view from, std::string_view to) {
    std::string copy = signed_message;
    return Verifier(copy.replace(copy.find(from), from.size(), to));
  };
  EXPECT_FALSE(changed("please", "Please").body_hash_matches());
  EXPECT_FALSE(changed("<ann@", "<eve@").signature_matches(rsa_key().key()));
  EXPECT_FALSE(changed("\r\nTo: ", "\r\nFrom: eve@example.com\r\nTo: ").signature_matches(rsa_key().key()))
      << "another From";
  EXPECT_TRUE(changed("\r\nX-Own: not", "\r\nX-Own: was").signature_matches(rsa_key().key()));
  EXPECT_FALSE(changed("\r\nX-Own", "\r\nX-Own").signature_matches(Key(EVP_RSA_gen(1024), &EVP_PKEY_free).get()));
}

TEST(Dkim, TheHeaderIsFoldedWithCrlf) {
  const std::string signed_message = signer()->sign(sample_message()).value();
  const std::string header = signed_message.substr(0, signed_message.size() - sample_message().size());
  EXPECT_TRUE(header.ends_with("\r\n"));
  std::size_t begin = 0;
  for (std::size_t end = header.find('\n'); end != std::string::npos; begin = end + 1, end = header.find('\n', begin)) {
    ASSERT_GT(end, begin);
    EXPECT_EQ(header[end - 1], '\r');
    EXPECT_LE(end - begin, 79U);
  }
}

TEST(Dkim, SignsBodiesOfAllShapes) {
  const std::string head = "From: a@example.com\r\nSubject: x\r\n";
  const auto dkim = signer();
  std::string large;
  while (large.size() < 3'000'000) large += "line " + std::to_string(large.size()) + " \t of many\r\n";
  for (const std::string& body : {std::string(), std::string("\r\n"), std::string("\r\n\r\n\r\n"), std::string("x\r\n"),
                                  std::string(" \t\r\nx \r\n\r\n"), std::string(".\r\n..\r\n"), large}) {
    Verifier verifier(dkim->sign(head + "\r\n" + body).value());
    EXPECT_TRUE(verifier.body_hash_matches()) << body.substr(0, 100);
    EXPECT_TRUE(verifier.signature_matches(rsa_key().key())) << body.substr(0, 100);
  }
}

TEST(Dkim, TakesKeysOf1024BitsAndMore) {
  const KeyFile key(EVP_RSA_gen(1024));
  Verifier verifier(DkimSigner::create(key.options()).value()->sign(sample_message()).value());
  EXPECT_TRUE(verifier.signature_matches(key.key()));
}

TEST(Dkim, AMessageWithoutFromCannotBeSigned) {
  const auto result = signer()->sign("Subject: x\r\n\r\nhello\r\n");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::ErrorCode::invalid);
}

TEST(Dkim, RefusesWhatIsNoKey) {
  const auto failure = [](const DkimOptions& options) {
    const auto result = DkimSigner::create(options);
    return result ? base::Error{base::ErrorCode::conflict, "accepted"} : result.error();
  };
  EXPECT_EQ(failure({"example.com", "s", "/does/not/exist.pem"}).code, base::ErrorCode::io);
  EXPECT_EQ(failure({"example.com", "s", "/"}).code, base::ErrorCode::io);
  EXPECT_THAT(failure(KeyFile(EVP_RSA_gen(512)).options()).message, HasSubstr("must have at least 1024 bits"));
  EXPECT_THAT(failure(KeyFile(EVP_EC_gen("P-256")).options()).message, HasSubstr("must be an RSA key"));
  EXPECT_THAT(failure(KeyFile(EVP_RSA_gen(1024), EVP_aes_128_cbc()).options()).message,
              HasSubstr("without a passphrase"));
  const base::TemporaryDirectory directory;
  const std::string path = (directory.path() / "text").string();
  std::ofstream(path) << "no key at all\n";
  EXPECT_THAT(failure({"example.com", "s", path}).message, HasSubstr("must be a private key in PEM"));
}

TEST(Dkim, RefusesNamesThatWouldBreakTheHeader) {
  for (const std::string name : {"", "a b", "a;b", "a\r\nb", "bücher.example", "[192.0.2.1]", "a@b"}) {
    EXPECT_FALSE(DkimSigner::create({name, "s", rsa_key().path()})) << name;
    EXPECT_FALSE(DkimSigner::create({"example.com", name, rsa_key().path()})) << name;
  }
}

TEST(DkimConcurrent, OneSignerServesManyThreads) {
  const auto dkim = signer();
  const std::string message = sample_message();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 10; ++j) {
        Verifier verifier(dkim->sign(message).value());
        EXPECT_TRUE(verifier.body_hash_matches());
        EXPECT_TRUE(verifier.signature_matches(rsa_key().key()));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace postino::mail
