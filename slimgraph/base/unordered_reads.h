// Reads of memory that others may be changing, too long to be made word by word (words.h). The
// reader discards what may have changed, or relies on a happens-before order that leads through
// another process. ThreadSanitizer sees one process only, so it is told to ignore these reads.
#pragma once

#ifdef __SANITIZE_THREAD__
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
}
#endif

namespace slimgraph {

// Applies to the calling thread, while the object lives.
class UnorderedReads {
 public:
#ifdef __SANITIZE_THREAD__
  UnorderedReads() { AnnotateIgnoreReadsBegin(__FILE__, __LINE__); }
  ~UnorderedReads() { AnnotateIgnoreReadsEnd(__FILE__, __LINE__); }
#else
  UnorderedReads() {}
#endif
  UnorderedReads(const UnorderedReads&) = delete;
};

}  // namespace slimgraph
