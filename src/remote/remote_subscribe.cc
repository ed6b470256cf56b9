#include "remote/remote_store.h"

namespace postino::remote {

store::Answer<std::unique_ptr<store::Subscription>> RemoteStore::subscribe(const std::string& table_name,
                                                                           std::optional<store::SequenceNumber>) {
  return store::refuse(store::ErrorType::service_unavailable,
                       "the change stream of table " + table_name + " cannot be followed on this store");
}

}  // namespace postino::remote
