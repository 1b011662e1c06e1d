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

// Of one round: the setting, and what follows from the measurement: rtfx (seconds of audio a second),
// busyCores, latencyMs {p50, p95, p99}, melMs, encodeMs, decodeMs, tokensPerSecond, peakMib and what they
// come from.
nlohmann::json to_json(const Cell& cell, const Measurement& measurement);

// Medians of the rounds, a row a cell, in Markdown.
std::string table(const std::vector<MeasuredCell>& cells);

// The machine's processor and the number of its cores.
nlohmann::json machine();

// Measurements cross from the process that made them as JSON.
nlohmann::json pack(const Measurement& measurement);
Measurement unpack(const nlohmann::json& packed);

}  // namespace verbatim::bench
