// A plot as SVG that stands inside a page, whose style sheet gives it its colours (page.cc).
#pragma once

#include <string>
#include <string_view>

#include "experiment/page/figure.h"

namespace slimgraph::experiment {

// Series beyond these would look like others.
constexpr std::size_t kLooks = 7;

// `title` is what those hear who do not see it.
std::string ToSvg(const Plot& plot, const std::string& title);

// The patterns that bars are filled with, once for a page.
std::string SvgPatterns();

// For text in HTML and SVG.
std::string Escape(std::string_view text);

}  // namespace slimgraph::experiment
