// The lines that are logged while it lives.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "base/log_file.h"
#include "base/temporary_directory.h"

namespace postino::net {

class LoggedLines {
 public:
  LoggedLines() { EXPECT_TRUE(base::open_log(folder_.path() / "log")); }
  ~LoggedLines() { EXPECT_TRUE(base::open_log("")); }
  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(folder_.path() / "log").rdbuf();
    return text.str();
  }
  int count(const std::string& what) const {
    const std::string all = text();
    int found = 0;
    for (std::size_t at = all.find(what); at != std::string::npos; at = all.find(what, at + 1)) ++found;
    return found;
  }

 private:
  base::TemporaryDirectory folder_;
};

}  // namespace postino::net
