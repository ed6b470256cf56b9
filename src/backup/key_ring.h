// The data keys of a place, each in an object of its own, sealed by a master key.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backup/master_key.h"
#include "backup/place.h"
#include "backup/sealed_form.h"
#include "base/random.h"

namespace postino::backup {

// The form to write new backups in. With a master key: the data key of the place that it opens, or a new one if the
// place has none yet. invalid when all that are there need other master keys, which the message names: there must not
// be two by mistake.
base::Result<SealedForm> form_to_write(Place& place, const std::optional<MasterKey>& master, base::Random& random);

// The form that a manifest was written in. invalid when it needs another master key, which the message names; not_found
// when its data key is gone; invalid also when it is not sealed although there is a master key: then it cannot be told
// who has written it.
base::Result<SealedForm> form_to_read(Place& place, std::string_view manifest, const std::optional<MasterKey>& master);

struct KeyChange {
  int sealed = 0;   // data keys that the new master key seals now
  int already = 0;  // that it had sealed before: an earlier change was interrupted
};
// Seals all data keys again. Contents stay as they are. Nothing is changed when one of the keys needs a third master
// key. What was interrupted is finished by doing it again.
base::Result<KeyChange> change_master_key(Place& place, const MasterKey& from, const MasterKey& to,
                                          base::Random& random);

}  // namespace postino::backup
