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
double tokens_per_second(const Measurement& m) { return m.tokens / m.wall_seconds; }
Value latency(double share) {
  return [share](const Measurement& m) { return percentile(m.latencies_ms, share); };
}
Value percent(double Measurement::*part) {
  return [part](const Measurement& m) { return 100 * m.*part / (m.mel_ms + m.encode_ms + m.decode_ms); };
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
  std::snprintf(
      text, sizeof(text),
      "| %s | %s | %s | %s | %d | %d | %d | %.2f (%.2f-%.2f) | %.0f | %.0f | %.0f | %.0f/%.0f/%.0f | %.1f | "
      "%.0f | %.2f |\n",
      cell.model.filename().c_str(), any.weight_type.c_str(), cell.device.c_str(),
      any.accelerator.empty() ? "-" : any.accelerator.c_str(), cell.slots, cell.threads, cell.beam,
      median(rates), least(rates), most(rates), middle(measured, latency(0.5)),
      middle(measured, latency(0.95)), middle(measured, latency(0.99)),
      middle(measured, percent(&Measurement::mel_ms)), middle(measured, percent(&Measurement::encode_ms)),
      middle(measured, percent(&Measurement::decode_ms)), middle(measured, tokens_per_second),
      middle(measured, [](const Measurement& m) { return m.peak_mib; }), middle(measured, busy_cores));
  return text;
}

}  // namespace

nlohmann::json to_json(const Cell& cell, const Measurement& m) {
  nlohmann::json json = pack(m);
  json["model"] = cell.model.filename().string();
  json["device"] = cell.device;
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
      "| model | weights | device | accelerator | slots | threads | beam | RTFx | p50 ms | p95 ms | p99 ms | "
      "mel/encoder/decoder % | tokens/s | peak MiB | busy cores |\n"
      "|---|---|---|---|--:|--:|--:|---|--:|--:|--:|---|--:|--:|--:|\n";
  for (const MeasuredCell& cell : cells) text += row(cell);
  return text;
}

nlohmann::json machine() {
  return {{"processor", list_devices().front().name}, {"cores", std::thread::hardware_concurrency()}};
}

nlohmann::json pack(const Measurement& m) {
  return {{"weightType", m.weight_type},
          {"accelerator", m.accelerator},
          {"audioSeconds", m.audio_seconds},
          {"wallSeconds", m.wall_seconds},
          {"processorSeconds", m.processor_seconds},
          {"latenciesMs", m.latencies_ms},
          {"melMs", m.mel_ms},
          {"encodeMs", m.encode_ms},
          {"decodeMs", m.decode_ms},
          {"windows", m.windows},
          {"encoderPasses", m.encoder_passes},
          {"tokens", m.tokens},
          {"peakMib", m.peak_mib}};
}

Measurement unpack(const nlohmann::json& packed) {
  Measurement m;
  packed.at("weightType").get_to(m.weight_type);
  packed.at("accelerator").get_to(m.accelerator);
  packed.at("audioSeconds").get_to(m.audio_seconds);
  packed.at("wallSeconds").get_to(m.wall_seconds);
  packed.at("processorSeconds").get_to(m.processor_seconds);
  packed.at("latenciesMs").get_to(m.latencies_ms);
  packed.at("melMs").get_to(m.mel_ms);
  packed.at("encodeMs").get_to(m.encode_ms);
  packed.at("decodeMs").get_to(m.decode_ms);
  packed.at("windows").get_to(m.windows);
  packed.at("encoderPasses").get_to(m.encoder_passes);
  packed.at("tokens").get_to(m.tokens);
  packed.at("peakMib").get_to(m.peak_mib);
  return m;
}

}  // namespace verbatim::bench
