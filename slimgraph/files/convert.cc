#include "slimgraph/files/convert.h"

#include "slimgraph/base/clock.h"
#include "slimgraph/base/file_io.h"
#include "slimgraph/files/internal/readers.h"
#include "slimgraph/files/internal/write_slim.h"

namespace slimgraph {
namespace {

Result<std::string> ReadSmallFile(const std::string& path) {
  constexpr std::uint64_t kMaxBytes = 1 << 20;
  SLIM_ASSIGN(const UniqueFd fd, OpenForReading(path));
  SLIM_ASSIGN(const std::uint64_t bytes, FileSize(fd, path));
  if (bytes > kMaxBytes) return InputError("{}: too long for a list of properties", path);
  std::string text(bytes, '\0');
  SLIM_TRY(ReadExactlyAt(fd, path, 0, std::as_writable_bytes(std::span(text))));
  return text;
}

// Passes another source on, until the conversion is cancelled.
class CancellableSource final : public internal::ByteSource {
 public:
  CancellableSource(internal::ByteSourcePtr source, std::function<bool()> cancelled)
      : ByteSource(source->name()), source_(std::move(source)), cancelled_(std::move(cancelled)) {}

  Result<std::size_t> Read(MutableBytes into) override {
    if (cancelled_()) return EnvironmentError("{}: cancelled", name());
    return source_->Read(into);
  }
  std::uint64_t position() const override { return source_->position(); }
  std::uint64_t total() const override { return source_->total(); }
  std::uint64_t left() const override { return source_->left(); }

 private:
  internal::ByteSourcePtr source_;
  std::function<bool()> cancelled_;
};

Result<internal::RawGraph> ReadInput(const ConvertOptions& options, FileFormat format) {
  internal::ReadOptions read;
  read.weighted = options.weighted;
  read.drop_weights = options.drop_weights;
  read.weights_if_any = options.weights_if_any;
  read.vertex_count = options.vertex_count;
  read.threads = options.threads;
  read.progress = options.read_progress;
  if (format == FileFormat::kSlim) {
    SLIM_ASSIGN(const SlimFile file, SlimFile::Open(options.in));
    return internal::ReadSlim(file, read);
  }
  const bool binary = format == FileFormat::kGemini || format == FileFormat::kWebGraph;
  const auto tell =
      binary ? internal::TellCompression::kByName : internal::TellCompression::kByContents;
  SLIM_ASSIGN(internal::ByteSourcePtr source, internal::OpenSource(options.in, tell));
  if (options.cancelled) {
    source = std::make_unique<CancellableSource>(std::move(source), options.cancelled);
  }
  switch (format) {
    case FileFormat::kSnap:
      return internal::ReadEdgeList(*source, read);
    case FileFormat::kMatrixMarket:
      return internal::ReadMatrixMarket(*source, read);
    case FileFormat::kMetis:
      return internal::ReadMetis(*source, read);
    case FileFormat::kSg:
      return internal::ReadGapbs(*source, false, read);
    case FileFormat::kWsg:
      return internal::ReadGapbs(*source, true, read);
    case FileFormat::kGemini:
      return internal::ReadGemini(*source, read);
    case FileFormat::kWebGraph: {
      const std::string name = WebGraphPropertiesOf(options.in);
      SLIM_ASSIGN(const std::string properties, ReadSmallFile(name));
      return internal::ReadWebGraph(*source, properties, name, read);
    }
    case FileFormat::kSlim:
      break;
  }
  return UsageError("{}: no reader for this format", options.in);
}

// If the file says whether it is directed, the options must agree. If it does not, the options must
// say it.
Result<bool> Directed(const ConvertOptions& options, std::optional<bool> said_by_file) {
  if (options.always_undirected) return false;
  if (!said_by_file) {
    if (options.symmetrize) {
      return UsageError(
          "{}: --symmetrize is for files that say they are directed; say --undirected", options.in);
    }
    if (!options.directed) {
      return UsageError(
          "{}: its format does not say whether edges have a direction: say --directed "
          "or --undirected",
          options.in);
    }
    return *options.directed;
  }
  if (*said_by_file) {
    if (options.symmetrize) {
      if (options.directed == true) {
        return UsageError("--symmetrize makes an undirected graph: leave out --directed");
      }
      return false;
    }
    if (options.directed == false) {
      return InputError("{}: this graph is directed: say --symmetrize to drop the directions",
                        options.in);
    }
    return true;
  }
  if (options.directed == true || options.symmetrize) {
    return InputError("{}: this graph is undirected: leave out {}", options.in,
                      options.symmetrize ? "--symmetrize" : "--directed");
  }
  return false;
}

Status CheckOptions(const ConvertOptions& options, FileFormat format) {
  if (options.weighted && options.drop_weights) {
    return UsageError("--weighted and --drop-weights contradict each other");
  }
  if (options.vertex_count && format != FileFormat::kGemini) {
    return UsageError("--vertex-count is for Gemini pairs; other files say it or use --vertices");
  }
  if (!options.vertices.empty() && format != FileFormat::kSnap && format != FileFormat::kGemini) {
    return UsageError("--vertices is for edge lists; {} files list their vertices themselves",
                      FileFormatName(format));
  }
  if (!options.vertices.empty() && options.vertex_count) {
    return UsageError("--vertices and --vertex-count contradict each other");
  }
  if (!options.out.ends_with(".slim")) {
    return UsageError("{}: the output is a .slim file, so its name must end in .slim", options.out);
  }
  return {};
}

}  // namespace

Result<ConvertReport> Convert(const ConvertOptions& options) {
  const std::uint64_t start_ns = NowNs();
  FileFormat format = FileFormat::kSnap;
  if (options.from) {
    format = *options.from;
  } else {
    SLIM_ASSIGN(format, FileFormatOf(options.in));
  }
  SLIM_TRY(CheckOptions(options, format));
  SLIM_ASSIGN(internal::RawGraph graph, ReadInput(options, format));
  internal::WriteRules rules;
  SLIM_ASSIGN(rules.directed, Directed(options, graph.directed));
  if (!options.vertices.empty()) {
    SLIM_ASSIGN(const internal::ByteSourcePtr source, internal::OpenSource(options.vertices));
    SLIM_ASSIGN(graph.vertices, internal::ReadVertices(*source));
  }
  const double read_s = SecondsSince(start_ns);
  rules.name = options.in;
  rules.out = options.out;
  rules.keep_self_loops = options.self_loops == Keep::kKeep;
  rules.keep_duplicates = options.duplicates == Keep::kKeep;
  rules.reverse_lists = options.reverse_lists;
  rules.order = options.order;
  rules.threads = options.threads;
  rules.progress = options.build_progress;
  rules.cancelled = options.cancelled;
  rules.ranked = options.ranked;
  const std::string header = graph.header;
  SLIM_ASSIGN(ConvertReport report, internal::WriteSlim(std::move(graph), rules));
  report.read_s = read_s;
  report.header = header;
  return report;
}

}  // namespace slimgraph
