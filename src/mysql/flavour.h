// What MariaDB and MySQL do differently. Everything else in this house treats them alike.
#pragma once

#include <string>
#include <string_view>

#include "mysql/error.h"
#include "mysql/server_options.h"

namespace postino::mysql {

enum class Product { mariadb, mysql };

struct Flavour {
  Product product = Product::mariadb;
  int major = 0;
  int minor = 0;
  int patch = 0;

  // From the version a server gives, for example "10.11.6-MariaDB-0+deb12u1" or "8.0.36". refused when it is older
  // than MariaDB 10.6, the first to have SKIP LOCKED, or MySQL 8.0.13, the first to have expressions as defaults.
  static Result<Flavour> of(std::string_view version);

  // The assignments of a SET statement that limit how long a statement may take. MySQL limits queries alone; for the
  // rest there is the time limit of the connection.
  std::string statement_limit(base::Milliseconds limit) const;

  std::string name() const;  // "MariaDB 10.11.6"

  friend bool operator==(const Flavour&, const Flavour&) = default;
};

}  // namespace postino::mysql
