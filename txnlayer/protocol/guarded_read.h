// Reading a record without a lock, where a tuple's first word tells of writers: the word is read,
// then the record, then the word again, three operations in order.
//
// Why no read is torn: a writer changes the record only between its compare-and-swap, which locks
// the word, and the write that unlocks it and makes it another, in one; both are ordered with the
// update. If any word of the record was written between our first and our second look, the writer
// had not yet locked at the first, or it would have been seen, and at the second it still holds the
// lock or has made the word another: the looks differ. (Two reads, the second of the word alone,
// would not do: the words of one operation are read in any order, and so the first look could come
// after the record.)
#pragma once

#include "txnlayer/port.h"

namespace slimgraph::txn {

inline void PostGuardedRead(Port& port, Access& access) {
  port.Read(access, 0, kWordBytes, &access.seen[0]);
  port.Read(access, access.table->key_at(), access.table->image_bytes(), access.image);
  port.Read(access, 0, kWordBytes, &access.again[0]);
  access.has_image = true;
}

// Whether the looks found the word free and the same; `version` is what is left of it when all that
// changes without the record is taken away.
template <typename Locked, typename Version>
bool ReadIsWhole(const Access& access, Locked locked, Version version) {
  if (locked(access.seen[0]) || locked(access.again[0])) return false;
  if (version(access.seen[0]) != version(access.again[0])) return false;
  access.CheckKey();
  return true;
}

}  // namespace slimgraph::txn
