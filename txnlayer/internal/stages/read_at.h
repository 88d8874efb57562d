// Read timestamps, after DST (decentralised scalar timestamps): read-only transactions read the
// state of one moment, their time. They take no locks, never make others wait or abort, and wait at
// most for the writers that hold a tuple's lock when they come to it.
//
// A read-write transaction commits at a time that is later than all times that its thread has seen,
// than the commit times of all versions that it has read or replaced, and, for what it writes, than
// all times at which others have read it: `claimed` by read-only transactions, `marked` by those
// that also write. It leaves its commit time in what it has read and written (TimeWord). So the
// order of commit times is a serial order of the read-write transactions.
//
// A read-only transaction first leaves its time in the tuple, and then looks at the lock. A writer
// first locks, and then reads the times that others have left. So the writer gets a later time, or
// the reader finds the lock and waits. Then the reader takes the youngest version that is not
// younger than its time.
//
// Two other schemes are there for comparison. Under global timestamps, a writer takes its time from
// a counter on node 0 when it holds the locks of what it writes, and before it validates what it
// has read; a reader takes the counter's value when it begins. Under vector timestamps, each thread
// counts its commits, and tells node 0 its count at that point; a reader takes all counts. Either
// way, a writer that depends on another takes its time after that one, and nobody leaves times in
// tuples. If a reader's time includes a writer, that one had its locks when the reader began. So
// the reader finds its locks, and waits, or finds what it has written.
//
// A record is read between two looks at the time of its commit, and between them two looks at the
// lock: time, lock, record, lock, time. A writer that changed the record while it was read locked
// before that. If it had locked at the first look, it has been seen there, or it was complete.
// Otherwise it still holds the lock at the second look, or has changed the time since the first.
//
// The home of a tuple serves a reader in one request. By one-sided operations a read takes two
// round trips, if the tuple's place is known and its time `claimed` can be swapped from afar: the
// first reads the times, and the second leaves the reader's time and does the rest.
#pragma once

#include "txnlayer/internal/stages/protocol.h"

namespace slimgraph::txn {

// Reads a tuple of this node at the time access.timestamp. Finds the tuple if its offset is 0;
// afterwards the offset is still 0 if there is none.
Step ReadAt(const Protocol& protocol, Access& access);

// The same from another node, for a tuple whose offset is known: one step's operations, and the
// check of their results.
void PostReadAt(Port& port, Access& access);
Step CheckReadAt(const Protocol& protocol, Access& access);

// The chain of kept versions from `link` on, of which the youngest is taken that is not younger
// than the transaction's time. The first looks at where it begins. More: the version at
// access.kept_at is to be read (Port::ReadKept), and the second looks at it. The chain may begin
// before a version with `count` writes, or with that version or a later one, if the link was read
// later.
Step BeginChain(Access& access, VersionLink link, std::uint64_t count);
Step TakeKept(Access& access);

}  // namespace slimgraph::txn
