#include "translation/ct2_backend.h"

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
#include <numeric>
#include <utility>

#include "device.h"
#include "translation/token_codec.h"

namespace verbatim::translation {
namespace {

namespace ct2 = ctranslate2;

std::pair<ct2::Device, int> device_of(const std::string& id) {
  find_device(id);
  if (id == "cpu") return {ct2::Device::CPU, 0};
  return {ct2::Device::CUDA, std::stoi(id.substr(id.find(':') + 1))};
}

ct2::ComputeType compute_type_of(const std::string& name) {
  return name == "auto" ? ct2::ComputeType::DEFAULT : ct2::str_to_compute_type(name);
}

// The library throws std::exception's family for everything; the caller knows what it asked for.
template <typename Action>
auto guarded(ErrorCode code, Action action) {
  try {
    return action();
  } catch (const EngineError&) {
    throw;
  } catch (const std::exception& error) {
    throw EngineError(code, std::string("CTranslate2: ") + error.what());
  }
}

ct2::TranslationOptions library_options(const TranslationOptions& from, const AbortFlag* abort) {
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
  to.max_decoding_length = static_cast<std::size_t>(from.max_decoding_length);
  to.min_decoding_length = static_cast<std::size_t>(from.min_decoding_length);
  if (!from.end_tokens.empty()) to.end_token = from.end_tokens;
  to.return_end_token = from.return_end_token;
  to.return_attention = from.return_attention;
  to.return_scores = true;
  // Called once a step; true ends the decoding.
  if (abort) to.callback = [abort](ct2::GenerationStepResult) { return abort->is_set(); };
  return to;
}

class Ct2Translator final : public Translator {
 public:
  Ct2Translator(std::shared_ptr<const TranslationModel> owner, const ct2::models::Model& model,
                const TokenCodec& codec, int threads)
      : owner_(std::move(owner)),
        codec_(codec),
        threads_(static_cast<std::size_t>(threads)),
        replica_(model.as_sequence_to_sequence()) {}

  TranslationBatch translate(std::span<const TranslationInput> inputs, const TranslationOptions& options,
                             const AbortFlag* abort) override {
    options.check();
    codec_.end_ids(options.end_tokens);
    const auto start = std::chrono::steady_clock::now();
    TranslationBatch batch;
    batch.results.resize(inputs.size());
    std::vector<std::size_t> order(inputs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](std::size_t i) { return inputs[i].source.size(); });
    // Beam search in the library has no callback: abort is seen between parts.
    const auto size = static_cast<std::size_t>(options.max_batch_size);
    for (std::size_t first = 0; first < order.size(); first += size) {
      run(inputs, std::span(order).subspan(first, std::min(size, order.size() - first)), options, abort,
          batch);
    }
    for (const auto& hypotheses : batch.results) batch.timings.tokens_out += hypotheses.front().tokens.size();
    batch.timings.total_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return batch;
  }

  std::size_t memory_bytes() const noexcept override { return 0; }

 private:
  void run(std::span<const TranslationInput> inputs, std::span<const std::size_t> part,
           const TranslationOptions& options, const AbortFlag* abort, TranslationBatch& batch) {
    check_abort(abort);
    std::vector<std::vector<std::string>> sources, prefixes;
    for (const std::size_t i : part) {
      sources.push_back(inputs[i].source);
      prefixes.push_back(inputs[i].target_prefix);
      codec_.encode_prefix(inputs[i].target_prefix);
      batch.timings.tokens_in +=
          codec_.encode_source(inputs[i].source, static_cast<std::size_t>(options.max_input_length)).size();
    }
    ct2::set_num_threads(threads_);
    const bool is_greedy = options.beam_size == 1;
    auto results = guarded(ErrorCode::kInternalError, [&] {
      return replica_->translate(sources, prefixes, library_options(options, is_greedy ? abort : nullptr));
    });
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
  const TokenCodec& codec_;
  std::size_t threads_;
  std::unique_ptr<ct2::models::SequenceToSequenceReplica> replica_;
};

class Ct2Model final : public TranslationModel, public std::enable_shared_from_this<Ct2Model> {
 public:
  Ct2Model(const std::filesystem::path& directory, const TranslationModelOptions& options)
      // Our own reader goes first: it refuses a wrong file with words that say what is wrong.
      : file_(Ct2File::open(directory / "model.bin")), codec_(directory, Ct2Config::read(directory, file_)) {
    const auto [device, index] = device_of(options.device);
    model_ = guarded(ErrorCode::kInvalidModel, [&, device = device, index = index] {
      return ct2::models::Model::load(directory.string(), device, index,
                                      compute_type_of(options.compute_type));
    });
    fill_info(directory, options);
    load_tokenizers(directory);
  }

  bool has_source_token(std::string_view token) const override {
    return codec_.source().find(token).has_value();
  }
  bool has_target_token(std::string_view token) const override {
    return codec_.target().find(token).has_value();
  }

  std::unique_ptr<Translator> create_translator(int threads) const override {
    if (threads < 1) throw EngineError(ErrorCode::kInvalidArgument, "a translator needs at least 1 thread");
    return guarded(ErrorCode::kInvalidModel, [&] {
      return std::make_unique<Ct2Translator>(shared_from_this(), *model_, codec_, threads);
    });
  }

 private:
  void fill_info(const std::filesystem::path& directory, const TranslationModelOptions& options) {
    const Ct2Config& config = codec_.config();
    info_.backend = "ctranslate2";
    info_.device = options.device;
    info_.compute_type = ct2::compute_type_to_str(model_->effective_compute_type());
    info_.memory_bytes = std::filesystem::file_size(directory / "model.bin");
    info_.source_vocabulary = codec_.source().size();
    info_.target_vocabulary = codec_.target().size();
    info_.unk_token = config.unk_token;
    info_.bos_token = config.bos_token;
    info_.eos_token = config.eos_token;
    info_.decoder_start_token = config.decoder_start_token;
    info_.add_source_bos = config.add_source_bos;
    info_.add_source_eos = config.add_source_eos;
  }

  Ct2File file_;
  TokenCodec codec_;
  std::shared_ptr<const ct2::models::Model> model_;
};

}  // namespace

bool has_ct2_backend() noexcept { return true; }

std::shared_ptr<const TranslationModel> load_ct2_model(const std::filesystem::path& directory,
                                                       const TranslationModelOptions& options) {
  return std::make_shared<const Ct2Model>(directory, options);
}

}  // namespace verbatim::translation

#else

namespace verbatim::translation {

bool has_ct2_backend() noexcept { return false; }

std::shared_ptr<const TranslationModel> load_ct2_model(const std::filesystem::path&,
                                                       const TranslationModelOptions&) {
  throw EngineError(
      ErrorCode::kInvalidArgument,
      "translation backend \"ctranslate2\" was not built in: configure the build with CTRANSLATE2_ROOT");
}

}  // namespace verbatim::translation

#endif
