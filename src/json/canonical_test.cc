#include "json/canonical.h"

#include <gtest/gtest.h>

namespace postino::json {
namespace {

TEST(CanonicalJson, HasOneFormForEveryValue) {
  const auto canonical = [](const std::string& text) {
    FieldErrors errors;
    Document document;
    EXPECT_TRUE(document.parse(text, errors));
    std::string out;
    append_canonical(out, document.root());
    return out;
  };
  EXPECT_EQ(canonical(R"({"b":[],"a":{}, "":null})"), R"({"":null,"a":{},"b":[]})");
  EXPECT_EQ(canonical("[1, -0.0, 1e2, 1.5, 18446744073709551615, -9223372036854775808, 1e300, true]"),
            "[1,0,100,1.5,18446744073709551615,-9223372036854775808,1e+300,true]");
  EXPECT_EQ(canonical(R"(["\u00e4\n\"", "\/"])"), "[\"ä\\n\\\"\",\"/\"]");
}

}  // namespace
}  // namespace postino::json
