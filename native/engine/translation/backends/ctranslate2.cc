#include "translation/backends/ctranslate2.h"

#include "error.h"

// Compiled against the CTranslate2 library (4.x) when CMake finds it; otherwise only the refusal below.
#if defined(VERBATIM_CTRANSLATE2)

#include <ctranslate2/devices.h>
#include <ctranslate2/models/model.h>
#include <ctranslate2/models/sequence_to_sequence.h>
#include <ctranslate2/translation.h>
#include <ctranslate2/types.h>
#include <ctranslate2/utils.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <numeric>
#include <utility>

#include "device.h"
#include "transformer/compute_type.h"
#include "translation/model_files.h"

namespace verbatim::translation {
namespace {

namespace ct2 = ctranslate2;

std::pair<ct2::Device, int> device_of(const std::string& id) {
  find_device(id);
  if (id == "cpu") return {ct2::Device::CPU, 0};
  return {ct2::Device::CUDA, std::stoi(id.substr(id.find(':') + 1))};
}

// The library throws subclasses of std::exception for every failure; the caller knows which operation failed.
template <typename Action>
auto guarded(ErrorCode code, Action action) {
  try {
    return action();
  } catch (const EngineError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw EngineError(ErrorCode::kOutOfMemory, "CTranslate2: no memory");
  } catch (const std::exception& error) {
    throw EngineError(code, std::string("CTranslate2: ") + error.what());
  }
}

// The type to load with. A type given by name is checked before the model is read, since the two errors differ.
ct2::ComputeType compute_type_of(const TranslationModelOptions& options, const transformer::Transformer& transformer,
                                 ct2::Device ct2_device, int index) {
  const transformer::ComputeType chosen = transformer::choose_compute_type(options.compute_type, transformer);
  const bool is_half = chosen == transformer::ComputeType::kFloat16 || chosen == transformer::ComputeType::kBfloat16;
  // For a 16-bit file the library chooses a type that the processor computes in.
  if (options.compute_type == "auto" && is_half) return ct2::ComputeType::DEFAULT;
  return guarded(ErrorCode::kInvalidArgument, [&] {
    const auto type = ct2::str_to_compute_type(std::string(transformer::compute_type_name(chosen)));
    ct2::resolve_compute_type(type, ct2::ComputeType::FLOAT32, ct2_device, index);
    return type;
  });
}

// The library's name without the type of unquantized weights: "int8_float32" becomes "int8".
std::string plain_name(ct2::ComputeType type) {
  const std::string name = ct2::compute_type_to_str(type);
  return name.substr(0, name.find('_'));
}

// The library's beam search mixes up the attention of a batch's sentences; single sentences are right.
bool wants_single_sentences(const TranslationOptions& options) {
  return options.beam_size > 1 &&
         (options.return_attention || options.replace_unknowns || options.coverage_penalty != 0.0f);
}

ct2::TranslationOptions library_options(const TranslationOptions& from, std::size_t positions, const AbortFlag* abort) {
  const auto within = [&](int length) {
    const auto wanted = static_cast<std::size_t>(length);
    return positions == 0 ? wanted : std::min(wanted, positions);
  };
  ct2::TranslationOptions to;
  to.beam_size = static_cast<std::size_t>(from.beam_size);
  to.num_hypotheses = static_cast<std::size_t>(from.num_hypotheses);
  to.patience = from.patience;
  to.length_penalty = from.length_penalty;
  to.coverage_penalty = from.coverage_penalty;
  to.repetition_penalty = from.repetition_penalty;
  to.no_repeat_ngram_size = static_cast<std::size_t>(from.no_repeat_ngram_size);
  to.disable_unk = from.disable_unk;
  to.replace_unknowns = from.replace_unknowns;
  to.max_input_length = static_cast<std::size_t>(from.max_input_length);
  to.max_decoding_length = within(from.max_decoding_length);
  to.min_decoding_length = within(from.min_decoding_length);
  to.return_attention = from.return_attention;
  to.return_scores = true;
  // Called once per step; returning true ends the decoding.
  if (abort) to.callback = [abort](ct2::GenerationStepResult) { return abort->is_set(); };
  return to;
}

class Ct2Translator final : public Translator {
 public:
  Ct2Translator(std::shared_ptr<const TranslationModel> owner, const ct2::models::Model& model, const ModelFiles& files,
                int threads)
      : owner_(std::move(owner)),
        files_(files),
        threads_(static_cast<std::size_t>(threads)),
        replica_(model.as_sequence_to_sequence()) {}

  TranslationBatch translate(std::span<const TranslationInput> inputs, const TranslationOptions& options,
                             const AbortFlag* abort) override {
    options.check();
    const auto start = std::chrono::steady_clock::now();
    TranslationBatch batch;
    batch.results.resize(inputs.size());
    const std::vector<std::size_t> order = check(inputs, options, batch.timings);
    // The library's beam search has no callback, so abort is polled between parts.
    const auto size = wants_single_sentences(options) ? 1 : static_cast<std::size_t>(options.max_batch_size);
    for (std::size_t first = 0; first < order.size(); first += size) {
      run(inputs, std::span(order).subspan(first, std::min(size, order.size() - first)), options, abort, batch);
    }
    for (const auto& hypotheses : batch.results) batch.timings.tokens_out += hypotheses.front().tokens.size();
    batch.timings.total_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return batch;
  }

  std::size_t memory_bytes() const noexcept override { return 0; }

 private:
  // Checks the inputs and throws this engine's errors. Returns the order of work, the longest source first.
  std::vector<std::size_t> check(std::span<const TranslationInput> inputs, const TranslationOptions& options,
                                 TranslationTimings& timings) const {
    std::vector<std::size_t> lengths, order(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      lengths.push_back(files_.encode_source(inputs[i], i, options).size());
      timings.tokens_in += lengths.back();
      files_.codec.encode_prefix(inputs[i].target_prefix);
    }
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return lengths[i]; });
    return order;
  }

  void run(std::span<const TranslationInput> inputs, std::span<const std::size_t> part,
           const TranslationOptions& options, const AbortFlag* abort, TranslationBatch& batch) {
    check_abort(abort);
    std::vector<std::vector<std::string>> sources, prefixes;
    for (const std::size_t i : part) {
      sources.push_back(inputs[i].source);
      prefixes.push_back(inputs[i].target_prefix);
    }
    ct2::set_num_threads(threads_);
    const auto settings = library_options(options, files_.target_positions(), options.beam_size == 1 ? abort : nullptr);
    auto results = guarded(ErrorCode::kInternalError, [&] { return replica_->translate(sources, prefixes, settings); });
    check_abort(abort);
    for (std::size_t i = 0; i < part.size(); ++i) batch.results[part[i]] = convert(results[i]);
  }

  static void check_abort(const AbortFlag* abort) {
    if (abort && abort->is_set()) throw EngineError(ErrorCode::kAborted, "translation was aborted");
  }

  static std::vector<TranslationHypothesis> convert(ct2::TranslationResult& result) {
    std::vector<TranslationHypothesis> hypotheses;
    for (std::size_t i = 0; i < result.hypotheses.size(); ++i) {
      TranslationHypothesis& hypothesis = hypotheses.emplace_back();
      hypothesis.tokens = std::move(result.hypotheses[i]);
      hypothesis.score = i < result.scores.size() ? result.scores[i] : 0.0f;
      if (i < result.attention.size()) hypothesis.attention = std::move(result.attention[i]);
    }
    return hypotheses;
  }

  std::shared_ptr<const TranslationModel> owner_;
  const ModelFiles& files_;
  std::size_t threads_;
  std::unique_ptr<ct2::models::SequenceToSequenceReplica> replica_;
};

class Ct2Model final : public TranslationModel, public std::enable_shared_from_this<Ct2Model> {
 public:
  // This engine's reader runs first: it refuses an invalid file with a message that names the fault.
  Ct2Model(const std::filesystem::path& directory, const TranslationModelOptions& options)
      : TranslationModel(directory) {
    const auto [ct2_device, index] = device_of(options.device);
    const ct2::ComputeType type = compute_type_of(options, files().transformer, ct2_device, index);
    model_ = guarded(ErrorCode::kInvalidModel, [&, ct2_device = ct2_device, index = index] {
      return ct2::models::Model::load(directory.string(), ct2_device, index, type);
    });
    files().file.drop_pages();
    info_.backend = "ctranslate2";
    info_.device = options.device;
    info_.compute_type = plain_name(model_->effective_compute_type());
    info_.memory_bytes = std::filesystem::file_size(directory / "model.bin");
  }

 private:
  std::unique_ptr<Translator> make_translator(int threads) const override {
    return guarded(ErrorCode::kInvalidModel,
                   [&] { return std::make_unique<Ct2Translator>(shared_from_this(), *model_, files(), threads); });
  }

  std::shared_ptr<const ct2::models::Model> model_;
};

}  // namespace

bool has_ctranslate2() noexcept { return true; }

std::shared_ptr<const TranslationModel> load_ctranslate2_model(const std::filesystem::path& directory,
                                                               const TranslationModelOptions& options) {
  return std::make_shared<const Ct2Model>(directory, options);
}

}  // namespace verbatim::translation

#else

namespace verbatim::translation {

bool has_ctranslate2() noexcept { return false; }

std::shared_ptr<const TranslationModel> load_ctranslate2_model(const std::filesystem::path&,
                                                               const TranslationModelOptions&) {
  throw EngineError(ErrorCode::kInvalidArgument,
                    "translation backend \"ctranslate2\" was not built in: configure the build with CTRANSLATE2_ROOT");
}

}  // namespace verbatim::translation

#endif
