// Axes, and elements that every plot must have. page_test.py checks the layout in a browser.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "experiment/page/axis.h"
#include "experiment/page/page.h"
#include "experiment/page/svg.h"

namespace slimgraph::experiment {
namespace {

TEST(Axis, ContainsAllValuesBetweenRoundTicks) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> exponent(-8, 8);
  for (int trial = 0; trial < 2000; ++trial) {
    double low = std::pow(10, exponent(random));
    double high = std::pow(10, exponent(random));
    if (low > high) std::swap(low, high);
    for (const bool logarithmic : {false, true}) {
      const Axis axis(low, high, logarithmic, 100, 500);
      EXPECT_GE(axis.ToPixels(low), 100 - 1e-6) << low << " " << high << logarithmic;
      EXPECT_LE(axis.ToPixels(high), 500 + 1e-6) << low << " " << high << logarithmic;
      EXPECT_GE(axis.ticks().size(), 2U) << low << " " << high << logarithmic;
      EXPECT_LE(axis.ticks().size(), 14U) << low << " " << high << logarithmic;
    }
  }
}

TEST(Axis, AcceptsASingleValueAndZero) {
  for (const double value : {0.0, 1.0, -3.0, 1e-9}) {
    const Axis axis(value, value, false, 0, 100);
    EXPECT_TRUE(std::isfinite(axis.ToPixels(value))) << value;
  }
  EXPECT_TRUE(std::isfinite(Axis(5, 5, true, 0, 100).ToPixels(5)));
}

// The best marks are at the top, so there is no room above them.
TEST(Svg, LabelsOfOverlappingMarksDoNotOverlap) {
  Plot plot;
  plot.kind = PlotKind::kScatter;
  Series series{"one", {{9, {0, 0, 0, 1}, "", false}}, 0};
  for (int i = 0; i < 6; ++i) series.marks.push_back({1, {5 + i * 0.01, 5, 5, 1}, "label", true});
  plot.series = {series};
  const std::string svg = ToSvg(plot, "labels");
  std::vector<double> heights;
  const std::string before = "class=\"label";
  for (std::size_t at = 0; (at = svg.find(before, at)) != std::string::npos; at += before.size()) {
    const std::size_t tag = svg.rfind('<', at);
    heights.push_back(std::stod(svg.substr(svg.find(" y=\"", tag) + 4)));
  }
  ASSERT_EQ(heights.size(), 6U);
  std::sort(heights.begin(), heights.end());
  for (std::size_t i = 1; i < heights.size(); ++i) EXPECT_GE(heights[i] - heights[i - 1], 15.9);
}

TEST(Svg, DrawsAMarkForEachValueAndEscapesNames) {
  for (const PlotKind kind : {PlotKind::kBars, PlotKind::kLines, PlotKind::kScatter}) {
    Plot plot;
    plot.kind = kind;
    plot.categories = {"a<b", "c&d"};
    plot.series = {{"one", {{0, {1, 0.5, 2, 3}, "x"}, {1, {2, 2, 2, 1}, "y"}}, 0},
                   {"\"two\"", {{1, {3, 3, 3, 1}, "z", true}}, 1}};
    plot.references = {{"ideal", 2, 2}, {"range", 1, 2, 0, 1}};
    const std::string svg = ToSvg(plot, "a < b");
    std::size_t marks = 0;
    for (std::size_t at = 0; (at = svg.find("class=\"mark ", at)) != std::string::npos; ++at) {
      ++marks;
    }
    EXPECT_EQ(marks, 3U);
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(svg.find("inf"), std::string::npos);
    EXPECT_EQ(svg.find("a<b"), std::string::npos);
    EXPECT_NE(svg.find("&quot;two&quot;"), std::string::npos);
  }
}

TEST(Csv, HasARowForEachMark) {
  Figure figure;
  figure.plot.categories = {"a,b"};
  figure.plot.series = {{"s \"1\"", {{0, {1, 0.5, 2, 3}, ""}}, 0}};
  EXPECT_EQ(ToCsv(figure),
            "series,place,x,median,low,high,runs\n\"s \"\"1\"\"\",\"a,b\",0,1,0.5,2,3\n");
}

}  // namespace
}  // namespace slimgraph::experiment
