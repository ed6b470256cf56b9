// The objects of an export, in the layout and with the manifests of DynamoDB's own exports.
#pragma once

#include <string>
#include <vector>

#include "exchange/bucket.h"
#include "exchange/transfers.h"

namespace postino::exchange {

// Used by one thread. What is written again under the name of the same export replaces what was there: an export that a
// crash has ended can begin again, and leaves the same objects.
class ExportFiles {
 public:
  ExportFiles(Bucket& bucket, const ExportDescription& description);

  // Says that the export has begun: also whether the bucket can be written to.
  base::Result<void> begin();
  base::Result<void> add(const item::Item& item);
  base::Result<void> add(const store::ItemChange& change);
  // The rest of the data, and then the manifests. `description` has what they tell: the end and the counts.
  base::Result<void> finish(const ExportDescription& description);

  // The object that is the last to be written.
  std::string manifest() const { return folder_ + "manifest-summary.json"; }

 private:
  struct DataFile {
    std::string name;
    std::int64_t item_count = 0;
    std::string digest;  // MD5
  };

  base::Result<void> add_line(const std::string& line);
  base::Result<void> write_data();
  base::Result<void> put_with_checksum(const std::string& name, const std::string& text);
  std::string summary(const ExportDescription& description) const;

  Bucket& bucket_;
  const std::string arn_;
  const DataFormat format_;
  const bool is_incremental_;
  const ExportView view_;
  const std::string folder_;  // of the manifests
  const std::string data_folder_;
  std::string data_;  // of the file that is being filled
  std::int64_t data_items_ = 0;
  std::vector<DataFile> files_;
};

}  // namespace postino::exchange
