#include "experiment/page/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "experiment/page/axis.h"

namespace slimgraph::experiment {
namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 380;
constexpr double kLeft = 70;
constexpr double kRight = 16;
constexpr double kBottom = 52;
constexpr double kLegendLine = 22;
constexpr double kLetter = 7.4;  // mean width of a letter in the legend and in labels
constexpr double kLabelHeight = 16;

struct Range {
  double low = std::numeric_limits<double>::max();
  double high = std::numeric_limits<double>::lowest();
  void Take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// A shape for each series, so that colour is not the only difference.
std::string Shape(std::size_t style, double x, double y, double r) {
  switch (style % kStyles) {
    case 0:
      return fmt::format("M{:.1f} {:.1f}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0z", x - r, y,
                         fmt::arg("r", r), fmt::arg("d", 2 * r));
    case 1:
      return fmt::format("M{:.1f} {:.1f}h{d}v{d}h-{d}z", x - r, y - r, fmt::arg("d", 2 * r));
    case 2:
      return fmt::format("M{:.1f} {:.1f}l{r} {d}h-{w}z", x, y - r, fmt::arg("r", 1.2 * r),
                         fmt::arg("d", 2 * r), fmt::arg("w", 2.4 * r));
    case 3:
      return fmt::format("M{:.1f} {:.1f}l{r} {r}l-{r} {r}l-{r} -{r}z", x, y - 1.3 * r,
                         fmt::arg("r", 1.3 * r));
    case 4:
      return fmt::format("M{:.1f} {:.1f}l{r} -{d}h-{w}z", x, y + r, fmt::arg("r", 1.2 * r),
                         fmt::arg("d", 2 * r), fmt::arg("w", 2.4 * r));
    case 5:
      return fmt::format("M{:.1f} {:.1f}h{a}v{b}h-{a}v{b}h-{b}v-{b}h-{a}v-{b}h{a}v-{b}h{b}z",
                         x + r / 3, y - r / 3, fmt::arg("a", 0.67 * r), fmt::arg("b", 0.67 * r));
    default:
      return fmt::format("M{:.1f} {:.1f}h{w}v{h}h-{w}z", x - 1.4 * r, y - r / 2,
                         fmt::arg("w", 2.8 * r), fmt::arg("h", r));
  }
}

std::string SpreadInWords(const Spread& spread) {
  std::string text = ShortNumber(spread.median);
  if (spread.samples > 1) {
    text += fmt::format(" ({} to {}, {} runs)", ShortNumber(spread.low), ShortNumber(spread.high),
                        spread.samples);
  }
  return text;
}

class Drawing {
 public:
  explicit Drawing(const Plot& plot) : plot_(plot) {
    Legend();
    top_ = 10 + legend_height_;
    bottom_ = top_ + kHeight - kBottom;
    height_ = bottom_ + kBottom;
    Ranges();
  }

  std::string Draw(const std::string& title) {
    Axes();
    References();
    for (std::size_t s = 0; s < plot_.series.size(); ++s) DrawSeries(s);
    return fmt::format(
        "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n", kWidth,
        height_, Escape(title), body_);
  }

 private:
  bool bars() const { return plot_.kind == PlotKind::kBars; }

  void Text(double x, double y, const char* css_class, const std::string& text,
            const std::string& more = "") {
    body_ += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", css_class, x,
                         y, more, Escape(text));
  }
  void Line(double x1, double y1, double x2, double y2, const std::string& css_class) {
    body_ += fmt::format(
        "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", css_class,
        x1, y1, x2, y2);
  }

  // Entries are placed from left to right, on as many lines as they need.
  void Legend() {
    double x = kLeft;
    double y = 16;
    const auto entry = [&](const std::string& name, auto&& sign) {
      const double width = 24 + kLetter * static_cast<double>(name.size()) + 18;
      if (x > kLeft && x + width > kWidth) {
        x = kLeft;
        y += kLegendLine;
      }
      sign(x, y);
      Text(x + 24, y + 4, "legend", name);
      x += width;
    };
    for (std::size_t s = 0; s < plot_.series.size(); ++s) {
      entry(plot_.series[s].name, [&](double at, double line) {
        if (bars()) {
          body_ += fmt::format(
              "<rect class=\"b{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"16\" height=\"12\"/>\n",
              plot_.series[s].style % kStyles, at, line - 6);
        } else {
          body_ += fmt::format("<path class=\"m{}\" d=\"{}\"/>\n", plot_.series[s].style % kStyles,
                               Shape(plot_.series[s].style, at + 8, line, 5));
        }
      });
    }
    std::vector<std::string> named;
    for (const Reference& reference : plot_.references) {
      if (std::find(named.begin(), named.end(), reference.name) != named.end()) continue;
      named.push_back(reference.name);
      entry(reference.name, [&](double at, double line) {
        if (reference.low != reference.high) {
          body_ += fmt::format(
              "<rect class=\"band\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"16\" height=\"12\"/>\n", at,
              line - 6);
        }
        Line(at, line, at + 16, line, "reference");
      });
    }
    legend_height_ = y + 12;
  }

  void Ranges() {
    Range x, y;
    for (const Series& series : plot_.series) {
      for (const Mark& mark : series.marks) {
        x.Take(mark.x);
        for (const double value : {mark.y.low, mark.y.high, mark.y.median}) {
          if (value > 0 || !plot_.log_y) y.Take(value);
        }
      }
    }
    for (const Reference& reference : plot_.references) {
      y.Take(reference.low);
      y.Take(reference.high);
    }
    if (y.low > y.high) y = {0.5, 1};
    if (x.low > x.high) x = {0.5, 1};
    if (!plot_.log_y && y.low > 0 && plot_.kind != PlotKind::kScatter) y.low = 0;
    // Bars start at the bottom, which must be below the smallest value.
    if (plot_.log_y && bars()) y.low *= 0.8;
    y_.emplace(y.low, y.high, plot_.log_y, bottom_, top_);
    if (!bars()) {
      const bool log_x = plot_.log_x && x.low > 0;
      x_.emplace(x.low, x.high, log_x, kLeft + 14, kWidth - kRight - 14);
    }
  }

  double CategoryWidth() const {
    return (kWidth - kLeft - kRight) /
           static_cast<double>(std::max<std::size_t>(1, plot_.categories.size()));
  }
  double BarWidth() const {
    return std::min(48.0, CategoryWidth() * 0.8 /
                              static_cast<double>(std::max<std::size_t>(1, plot_.series.size())));
  }
  double BarLeft(double category, std::size_t series) const {
    const double all = BarWidth() * static_cast<double>(plot_.series.size());
    return kLeft + (category + 0.5) * CategoryWidth() - all / 2 +
           BarWidth() * static_cast<double>(series);
  }

  void Axes() {
    for (const double tick : y_->ticks()) {
      const double y = y_->ToPixels(tick);
      Line(kLeft, y, kWidth - kRight, y, "grid");
      Text(kLeft - 8, y + 4, "tick y", ShortNumber(tick));
    }
    Line(kLeft, bottom_, kWidth - kRight, bottom_, "axis");
    if (bars()) {
      for (std::size_t c = 0; c < plot_.categories.size(); ++c) {
        Text(kLeft + (static_cast<double>(c) + 0.5) * CategoryWidth(), bottom_ + 18, "tick x",
             plot_.categories[c]);
      }
    } else {
      for (const double tick : XTicks()) {
        const double x = x_->ToPixels(tick);
        Line(x, bottom_, x, bottom_ + 5, "axis");
        Text(x, bottom_ + 20, "tick x", ShortNumber(tick));
      }
    }
    Text((kLeft + kWidth - kRight) / 2, bottom_ + 42, "title x", plot_.x_title);
    const double middle = (top_ + bottom_) / 2;
    Text(16, middle, "title y", plot_.y_title,
         fmt::format(" transform=\"rotate(-90 16 {:.1f})\"", middle));
  }

  // The x values of the marks, unless they are too close for labels.
  std::vector<double> XTicks() const {
    std::vector<double> places;
    for (const Series& series : plot_.series) {
      for (const Mark& mark : series.marks) places.push_back(mark.x);
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    double last = -1e9;
    for (const double place : places) {
      if (x_->ToPixels(place) - last < 40) return x_->ticks();
      last = x_->ToPixels(place);
    }
    return plot_.kind == PlotKind::kLines ? places : x_->ticks();
  }

  void References() {
    for (const Reference& reference : plot_.references) {
      double from = kLeft;
      double to = kWidth - kRight;
      if (bars() && reference.x) {
        from = kLeft + *reference.x * CategoryWidth() + 4;
        to = from + CategoryWidth() - 8;
      }
      const std::size_t categories = plot_.categories.size();
      if (!bars() || !reference.series) {
        OneReference(reference, from, to);
        continue;
      }
      for (std::size_t c = 0; c < categories; ++c) {
        if (reference.x && static_cast<std::size_t>(*reference.x) != c) continue;
        const double left = BarLeft(static_cast<double>(c), *reference.series);
        OneReference(reference, left - 1, left + BarWidth() + 1);
      }
    }
  }

  void OneReference(const Reference& reference, double from, double to) {
    const double low = y_->ToPixels(reference.low);
    const double high = y_->ToPixels(reference.high);
    if (low != high) {
      body_ += fmt::format(
          "<rect class=\"band\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
          from, high, to - from, low - high);
      Line(from, low, to, low, "reference");
    }
    Line(from, high, to, high, "reference");
  }

  std::string Tip(const Series& series, const Mark& mark) const {
    const std::string where =
        bars() ? plot_.categories.at(static_cast<std::size_t>(mark.x)) : ShortNumber(mark.x);
    const std::string what = mark.label.empty() ? series.name : series.name + " " + mark.label;
    return fmt::format("<title>{}</title>",
                       Escape(fmt::format("{}, {}: {}", what, where, SpreadInWords(mark.y))));
  }

  void Whisker(double x, const Spread& spread) {
    if (spread.low == spread.high) return;
    const double low = y_->ToPixels(spread.low);
    const double high = y_->ToPixels(spread.high);
    body_ += fmt::format("<path class=\"whisker\" d=\"M{:.1f} {:.1f}h8m-4 0V{:.1f}m-4 0h8\"/>\n",
                         x - 4, low, high);
  }

  void DrawSeries(std::size_t s) {
    const Series& series = plot_.series[s];
    const std::size_t style = series.style % kStyles;
    if (plot_.kind == PlotKind::kLines && series.marks.size() > 1) {
      std::string points;
      for (const Mark& mark : series.marks) {
        points += fmt::format("{:.1f},{:.1f} ", x_->ToPixels(mark.x), y_->ToPixels(mark.y.median));
      }
      body_ += fmt::format("<polyline class=\"l{}\" points=\"{}\"/>\n", style, points);
    }
    for (const Mark& mark : series.marks) {
      const double y = y_->ToPixels(mark.y.median);
      if (bars()) {
        const double left = BarLeft(mark.x, s);
        body_ += fmt::format(
            "<rect class=\"mark b{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
            "height=\"{:.1f}\">{}</rect>\n",
            style, left + 1, std::min(y, bottom_ - 1), BarWidth() - 2, std::max(1.0, bottom_ - y),
            Tip(series, mark));
        Whisker(left + BarWidth() / 2, mark.y);
        continue;
      }
      const double x = x_->ToPixels(mark.x);
      Whisker(x, mark.y);
      body_ += fmt::format("<path class=\"mark m{}\" d=\"{}\">{}</path>\n", style,
                           Shape(style, x, y, plot_.kind == PlotKind::kScatter ? 4 : 5),
                           Tip(series, mark));
      if (mark.labelled) Label(x, y, mark.label);
    }
  }

  // Puts the label beside the mark, on the side with room, where it covers no other label.
  void Label(double x, double y, const std::string& label) {
    const double width = kLetter * static_cast<double>(label.size());
    const bool left = x + 10 + width > kWidth - kRight;
    const double from = left ? x - 10 - width : x + 10;
    const auto free = [&](double at) {
      return at >= top_ + 10 && at < bottom_ &&
             std::none_of(labels_.begin(), labels_.end(), [&](const Taken& one) {
               return from < one.end && one.begin < from + width &&
                      std::abs(one.y - at) < kLabelHeight;
             });
    };
    double at = std::max(y + 4, top_ + 10);
    for (double away = 0; away < bottom_ - top_; away += kLabelHeight) {
      if (!free(y + 4 - away) && !free(y + 4 + away)) continue;
      at = free(y + 4 - away) ? y + 4 - away : y + 4 + away;
      break;
    }
    labels_.push_back({from, from + width, at});
    Text(left ? x - 10 : x + 10, at, left ? "label left" : "label", label);
  }

  struct Taken {
    double begin, end, y;
  };

  const Plot& plot_;
  std::string body_;
  double legend_height_ = 0;
  double top_ = 0;
  double bottom_ = 0;
  double height_ = 0;
  std::optional<Axis> x_;
  std::optional<Axis> y_;
  std::vector<Taken> labels_;
};

}  // namespace

std::string ToSvg(const Plot& plot, const std::string& title) { return Drawing(plot).Draw(title); }

std::string SvgPatterns() {
  constexpr const char* kStrokes[kStyles] = {"",
                                             "M0 8L8 0M-2 2L2 -2M6 10L10 6",
                                             "M0 0L8 8M6 -2L10 2M-2 6L2 10",
                                             "M0 4H8",
                                             "M4 0V8",
                                             "M0 4H8M4 0V8",
                                             "M0 8L8 0M0 0L8 8"};
  std::string text = "<svg class=\"patterns\" aria-hidden=\"true\"><defs>\n";
  for (std::size_t i = 0; i < kStyles; ++i) {
    text += fmt::format(
        "<pattern id=\"p{0}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">"
        "<rect class=\"f{0}\" width=\"8\" height=\"8\"/><path class=\"hatch\" d=\"M0 0{1}\"/>"
        "</pattern>\n",
        i, kStrokes[i]);
  }
  return text + "</defs></svg>\n";
}

std::string Escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace slimgraph::experiment
