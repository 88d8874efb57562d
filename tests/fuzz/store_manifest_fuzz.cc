// The manifest of a store, and the journal of the file that is being applied to it. The input's
// first byte says where the journal begins. Both are read as they are, and with matching checksums.
#include "tests/fuzz/store_support.h"
#include "txnlayer/disk/store.h"

namespace slimgraph {
namespace {

void MakeManifestRight(std::vector<std::uint8_t>& manifest) {
  static constexpr char kMagic[] = "SLIMSTOR";
  constexpr std::uint32_t kByteOrder = 0x01020304;
  constexpr std::size_t kHead = 56;
  constexpr std::size_t kIndex = 40;
  manifest.resize(std::max(manifest.size(), kHead + 8));
  std::memcpy(manifest.data(), kMagic, 8);
  manifest[8] = static_cast<std::uint8_t>(1 + manifest[8] % 3);
  const bool has_indexes = manifest[8] == 3;
  const std::uint64_t indexes = has_indexes ? manifest[9] % 4 : 0;
  std::memset(manifest.data() + 9, 0, 3);
  std::memcpy(manifest.data() + 12, &kByteOrder, 4);
  const std::size_t tail = (has_indexes ? 8 + indexes * kIndex : 0) + 8;
  const std::uint64_t ids = (std::max(manifest.size(), kHead + tail) - kHead - tail) / 16;
  manifest.resize(kHead + ids * 16 + tail);
  std::memcpy(manifest.data() + kHead - 8, &ids, 8);
  std::uint8_t* index = manifest.data() + kHead + ids * 16;
  if (has_indexes) std::memcpy(index, &indexes, 8);
  index += 8;
  // Names, offsets and types that are right more often than not.
  for (std::uint64_t i = 0; i < indexes; ++i, index += kIndex) {
    if (index[0] % 4 != 0) std::memcpy(index, i == 0 ? "a" : i == 1 ? "b" : "c", 2);
    std::memset(index + 33, 0, 3);
    index[36] %= 12;
    std::memset(index + 37, 0, 3);
  }
  const std::uint64_t checksum = XXH3_64bits(manifest.data(), manifest.size() - 8);
  std::memcpy(manifest.data() + manifest.size() - 8, &checksum, 8);
}

void OpenIt(const std::string& path) {
  auto store = txn::Store::Open(path, txn::Store::Use::kWrite);
  if (!store) {
    SLIM_CHECK(!store.error().message.empty());
    return;
  }
  (void)store->AppliedAs(1);
  if (store->applying()) SLIM_CHECK(store->EndApplying(store->applying()->complete()));
  (void)store->Image();
}

}  // namespace
}  // namespace slimgraph

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slimgraph;
  if (size < 1) return 0;
  const std::string path = fuzz::Folder() + "/store";
  const std::size_t cut = std::min<std::size_t>(1 + data[0], size);
  std::vector<std::uint8_t> manifest(data + 1, data + cut);
  std::vector<std::uint8_t> journal(data + cut, data + size);
  for (const bool make_right : {false, true}) {
    std::filesystem::remove_all(path);
    SLIM_CHECK(::mkdir(path.c_str(), 0700) == 0);
    if (make_right) {
      MakeManifestRight(manifest);
      fuzz::MakeBatchesRight(journal);
    }
    std::uint64_t generation = 0;
    if (manifest.size() >= 32) std::memcpy(&generation, manifest.data() + 24, 8);
    fuzz::WriteFile(path + "/manifest", manifest);
    if (!journal.empty()) fuzz::WriteFile(path + "/applying", journal);
    fuzz::WriteFile(path + "/log." + std::to_string(generation), {});
    OpenIt(path);
  }
  return 0;
}
