/**
 * The options of `whisper` (openai-whisper) and `whisperx` that `verbatim transcribe` does not have: what each does,
 * and what to use instead.
 */
interface Refused {
  program: 'whisper' | 'whisperx';
  about: string;
  instead: string;
}

const SEARCH = 'Leave it out: texts are decoded greedily, and again at higher temperatures where that goes wrong.';
const FIXED_RULES = 'Leave it out: a text that looks wrong is decoded again by fixed rules.';
const FINDS_SPEECH = 'Leave it out: VERBATIM_VAD says what finds speech.';
const LINES = 'Leave it out: a subtitle has at most two lines of 42 characters.';
const PROGRESS = 'Leave it out: a terminal shows the progress, and texts go to standard output or files.';
const ALIGNMENT =
  'Leave it out: the speech model itself gives the times; --word-timestamps True writes those of words.';
const NOTHING = 'Leave it out: nothing takes its place.';

const WHISPER: Readonly<Record<string, readonly [about: string, instead: string]>> = {
  '--model_dir': ['the directory of models', 'Use VERBATIM_MODELS_DIR.'],
  '--device': ['the device', 'Use VERBATIM_DEVICE.'],
  '--threads': ['CPU threads', 'Use VERBATIM_THREADS.'],
  '--fp16': ['the compute type', 'Use VERBATIM_COMPUTE.'],
  '--verbose': ['whether texts and progress are printed', PROGRESS],
  '--initial_prompt': ['names and words to expect', 'Use --prompt.'],
  '--carry_initial_prompt': ['the prompt before every window', 'Leave it out: --prompt is given to every window.'],
  '--condition_on_previous_text': [
    'the text of one window as the prompt of the next',
    'Leave it out: each window is decoded by itself; --prompt is given to every window.',
  ],
  '--temperature': ['how texts are sampled', 'Leave it out: the first attempt is at 0.'],
  '--temperature_increment_on_fallback': ['the temperature step of the next attempt', FIXED_RULES],
  '--compression_ratio_threshold': ['the threshold for repetitive text', FIXED_RULES],
  '--logprob_threshold': ['the threshold for unlikely text', FIXED_RULES],
  '--no_speech_threshold': ['the threshold for silence', FINDS_SPEECH],
  '--hallucination_silence_threshold': ['silence that is skipped', FINDS_SPEECH],
  '--best_of': ['the number of sampled candidates', SEARCH],
  '--beam_size': ['the beam size', SEARCH],
  '--patience': ['the patience of the beam search', SEARCH],
  '--length_penalty': ['the length penalty', SEARCH],
  '--suppress_tokens': ['the suppressed tokens', NOTHING],
  '--prepend_punctuations': ['punctuation before a word', 'Leave it out: punctuation stays with its word.'],
  '--append_punctuations': ['punctuation after a word', 'Leave it out: punctuation stays with its word.'],
  '--highlight_words': ['words underlined as they are spoken', 'Leave it out: --word-timestamps True has their times.'],
  '--max_line_width': ['the length of a line of subtitles', LINES],
  '--max_line_count': ['lines of a subtitle', LINES],
  '--max_words_per_line': ['words in a line of subtitles', LINES],
  '--clip_timestamps': ['parts of a file', 'Cut the file first, for example with: ffmpeg -ss START -to END -i FILE.'],
};

const WHISPERX: typeof WHISPER = {
  '--model_cache_only': ['whether models are downloaded', 'Use VERBATIM_AUTO_MODEL=off, or name the model.'],
  '--device_index': ['the GPU', 'Use VERBATIM_DEVICE=cuda:N.'],
  '--batch_size': ['windows that are decoded together', 'Use VERBATIM_BATCH.'],
  '--compute_type': ['the compute type', 'Use VERBATIM_COMPUTE.'],
  '--log_level': ['what is logged', PROGRESS],
  '--print_progress': ['whether the progress is printed', PROGRESS],
  '--align_model': ['a model that aligns words', ALIGNMENT],
  '--interpolate_method': ['times of words that were not aligned', ALIGNMENT],
  '--timestamp_sanitize': ['times of words in order', 'Leave it out: times are always in order.'],
  '--no_align': ['no times of words', 'Leave it out: JSON has them only with --word-timestamps True.'],
  '--return_char_alignments': ['times of characters', ALIGNMENT],
  '--vad_method': ['what finds speech', 'Use VERBATIM_VAD.'],
  '--vad_onset': ['when speech begins', FINDS_SPEECH],
  '--vad_offset': ['when speech ends', FINDS_SPEECH],
  '--chunk_size': ['the length of a window', 'Leave it out: windows end at pauses, where the model takes them best.'],
  '--diarize_model': ['the model that finds speakers', 'Use VERBATIM_SPEAKER_SEGMENTATION.'],
  '--speaker_embeddings': ['speaker embeddings in the JSON', NOTHING],
  '--suppress_numerals': ['numbers spelled as words', NOTHING],
  '--hotwords': ['names and words to expect', 'Use --prompt.'],
  '--segment_resolution': ['how segments are split', NOTHING],
  '--hf_token': [
    'the token for the model hub',
    'Leave it out: HF_TOKEN is needed for `models pull` of gated models only.',
  ],
  '--python_version': ['the version of Python', 'Use --version.'],
};

const REFUSED = new Map<string, Refused>([...entriesOf('whisper', WHISPER), ...entriesOf('whisperx', WHISPERX)]);

function entriesOf(program: Refused['program'], options: typeof WHISPER): [string, Refused][] {
  return Object.entries(options).map(([name, [about, instead]]) => [name, { program, about, instead }]);
}

/** Why an option, in either spelling, is refused. null: it is not one of these options, or it exists here. */
export function whisperRefusal(option: string): string | null {
  const refused = REFUSED.get(`--${option.slice(2).replaceAll('-', '_')}`);
  if (refused === undefined) return null;
  const { program, about, instead } = refused;
  return `${option} (${about}) is an option of ${program} that verbatim transcribe does not have. ${instead}`;
}
