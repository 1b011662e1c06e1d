#include "report.h"

#include <cstdio>
#include <functional>
#include <thread>

#include "device.h"
#include "measure.h"

namespace verbatim::bench {
namespace {

using Value = std::function<double(const Measurement&)>;

double rtfx(const Measurement& m) { return m.audio_seconds / m.wall_seconds; }
double busy_cores(const Measurement& m) { return m.processor_seconds / m.wall_seconds; }
double tokens_per_second(const Measurement& m) { return m.timings.tokens / m.wall_seconds; }
Value latency(double share) {
  return [share](const Measurement& m) { return percentile(m.latencies_ms, share); };
}
// Share of the time in the model.
Value percent(double Timings::*part) {
  return [part](const Measurement& m) {
    return 100 * m.timings.*part / (m.timings.mel_ms + m.timings.encode_ms + m.timings.decode_ms);
  };
}

double middle(const MeasuredCell& cell, const Value& value) {
  std::vector<double> values;
  for (const Measurement& round : cell.rounds) values.push_back(value(round));
  return median(values);
}

std::string row(const MeasuredCell& measured) {
  const Cell& cell = measured.cell;
  const Measurement& any = measured.rounds.front();
  std::vector<double> rates;
  for (const Measurement& round : measured.rounds) rates.push_back(rtfx(round));
  char text[512];
  std::snprintf(text, sizeof(text),
                "| %s | %s | %s | %s | %s | %d | %d | %d | %.2f (%.2f-%.2f) | %.0f | %.0f | %.0f | %.0f/%.0f/%.0f | "
                "%.1f | "
                "%.0f | %.2f |\n",
                cell.model.filename().c_str(), any.weight_type.c_str(), cell.device.c_str(),
                any.accelerator.empty() ? "-" : any.accelerator.c_str(), cell.decoder.c_str(), cell.slots, cell.threads,
                cell.beam, median(rates), least(rates), most(rates), middle(measured, latency(0.5)),
                middle(measured, latency(0.95)), middle(measured, latency(0.99)),
                middle(measured, percent(&Timings::mel_ms)), middle(measured, percent(&Timings::encode_ms)),
                middle(measured, percent(&Timings::decode_ms)), middle(measured, tokens_per_second),
                middle(measured, [](const Measurement& m) { return m.peak_mib; }), middle(measured, busy_cores));
  return text;
}

// The JSON names of the fields, for writing and for reading. M: Measurement, const or not.
template <typename M, typename OnField>
void for_each_field(M& m, const OnField& on_field) {
  on_field("weightType", m.weight_type);
  on_field("accelerator", m.accelerator);
  on_field("audioSeconds", m.audio_seconds);
  on_field("wallSeconds", m.wall_seconds);
  on_field("processorSeconds", m.processor_seconds);
  on_field("latenciesMs", m.latencies_ms);
  on_field("melMs", m.timings.mel_ms);
  on_field("encodeMs", m.timings.encode_ms);
  on_field("decodeMs", m.timings.decode_ms);
  on_field("totalMs", m.timings.total_ms);
  on_field("windows", m.windows);
  on_field("words", m.words);
  on_field("encoderPasses", m.timings.encoder_passes);
  on_field("fallbacks", m.timings.fallbacks);
  on_field("tokens", m.timings.tokens);
  on_field("peakMib", m.peak_mib);
}

}  // namespace

nlohmann::json to_json(const Cell& cell, const Measurement& m) {
  nlohmann::json json = pack(m);
  json["model"] = cell.model.filename().string();
  json["device"] = cell.device;
  json["decoder"] = cell.decoder;
  json["slots"] = cell.slots;
  json["threads"] = cell.threads;
  json["beam"] = cell.beam;
  json["rtfx"] = rtfx(m);
  json["busyCores"] = busy_cores(m);
  json["tokensPerSecond"] = tokens_per_second(m);
  json["latencyMs"] = {{"p50", latency(0.5)(m)}, {"p95", latency(0.95)(m)}, {"p99", latency(0.99)(m)}};
  return json;
}

std::string table(const std::vector<MeasuredCell>& cells) {
  std::string text =
      "| model | weights | device | accelerator | decoder | slots | threads | beam | RTFx | p50 ms | p95 ms "
      "| p99 ms | "
      "mel/encoder/decoder % | tokens/s | peak MiB | busy cores |\n"
      "|---|---|---|---|---|--:|--:|--:|---|--:|--:|--:|---|--:|--:|--:|\n";
  for (const MeasuredCell& cell : cells) text += row(cell);
  return text;
}

nlohmann::json machine() {
  return {{"processor", list_devices().front().name}, {"cores", std::thread::hardware_concurrency()}};
}

nlohmann::json pack(const Measurement& m) {
  nlohmann::json packed;
  for_each_field(m, [&](const char* name, const auto& field) { packed[name] = field; });
  return packed;
}

Measurement unpack(const nlohmann::json& packed) {
  Measurement m;
  for_each_field(m, [&](const char* name, auto& field) { packed.at(name).get_to(field); });
  return m;
}

}  // namespace verbatim::bench
