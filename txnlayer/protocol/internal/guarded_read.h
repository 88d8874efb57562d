// Reads of a record without a lock.
//
// A guarded read, when the tuple's first word is both lock and version: reads the word, then the
// record, then the word again, as three operations in order.
//
// Why no read is torn: a writer locks the word by a CAS before it changes the record. Afterwards
// one write both unlocks the word and changes it. Both are ordered with the update. Suppose a word
// of the record was written between the reader's two reads of the word. Then the writer had not yet
// locked at the first, or the reader would have seen the lock. At the second, the writer still
// holds the lock or has changed the word. So the two values differ. (Two operations would not
// suffice. The words of one operation are read in any order, so the first read of the word could
// come after that of the record.)
//
// An unlocked read, when the first word is a lock alone and the version has a word of its own,
// which every writer changes under the lock: reads the version's word, the lock, the record, and
// then the lock and the version's word again, as five operations in order.
//
// Why it is not torn: suppose a word of the record was written between the two reads of the lock,
// and both found no writer. Then the writer locked after the first and unlocked before the second.
// So it wrote the version's word between the two reads of that word, which differ.
#pragma once

#include "txnlayer/internal/store/tuple_header.h"

namespace slimgraph::txn {

// `Port` and `Access` are those of stages/, or those of a check under relacy (tests/relacy).
template <typename Port, typename Access>
inline void PostGuardedRead(Port& port, Access& access) {
  const std::uint64_t before = access.table->time_bytes();
  port.Read(access, 0, kWordBytes, &access.seen[0]);
  port.Read(access, access.table->key_at() - before, before + access.table->image_bytes(),
            access.image - before);
  port.Read(access, 0, kWordBytes, &access.reread[0]);
  access.has_image = true;
}

template <typename Port, typename Access>
inline void PostUnlockedRead(Port& port, Access& access) {
  const std::uint64_t version = access.table->version_at(0);
  port.Read(access, version, kWordBytes, &access.seen[1]);
  port.Read(access, 0, kWordBytes, &access.seen[0]);
  port.Read(access, access.table->key_at(), access.table->image_bytes(), access.image);
  port.Read(access, 0, kWordBytes, &access.reread[0]);
  port.Read(access, version, kWordBytes, &access.reread[1]);
  access.has_image = true;
}

// Whether both reads of the word found it unlocked and with the same version. `version` extracts
// from a word the part that changes only with the record.
template <typename Access, typename Version>
bool ReadIsWhole(const Access& access, Version version, bool (*locked)(std::uint64_t) = Locked) {
  if (locked(access.seen[0]) || locked(access.reread[0])) return false;
  if (version(access.seen[0]) != version(access.reread[0])) return false;
  access.CheckKey();
  return true;
}

// Whether both reads of the lock found no writer, and both of the version's word the same.
template <typename Access, typename ByWriter>
bool UnlockedReadIsWhole(const Access& access, ByWriter by_writer) {
  if (by_writer(access.seen[0]) || by_writer(access.reread[0])) return false;
  if (access.seen[1] != access.reread[1]) return false;
  access.CheckKey();
  return true;
}

}  // namespace slimgraph::txn
