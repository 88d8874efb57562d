// Reads of memory that others may be changing, longer than can be made word by word (words.h). Who
// makes them has no use for what has changed meanwhile, or knows that nothing has, by an order that
// leads through another process; the thread sanitizer sees one process alone, and is not asked.
#pragma once

#ifdef __SANITIZE_THREAD__
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
}
#endif

namespace slimgraph {

// Of the calling thread, while it lives.
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
