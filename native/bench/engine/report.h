#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cell.h"

namespace verbatim::bench {

// A cell with its measurements, one a round.
struct MeasuredCell {
  Cell cell;
  std::vector<Measurement> rounds;
};

// One round as JSON: the setting, the derived figures rtfx (seconds of audio per second), busyCores, latencyMs {p50,
// p95, p99}, melMs, encodeMs, decodeMs, tokensPerSecond, peakMib, and their source values.
nlohmann::json to_json(const Cell& cell, const Measurement& measurement);

// A Markdown table with the medians of the rounds, one row per cell.
std::string table(const std::vector<MeasuredCell>& cells);

// The machine's processor and the number of its cores.
nlohmann::json machine();

// A measurement as JSON, to pass it between processes.
nlohmann::json pack(const Measurement& measurement);
Measurement unpack(const nlohmann::json& packed);

}  // namespace verbatim::bench
