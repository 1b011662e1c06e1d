/** Settings: what computes, and in which number type. */
import type { SettingTable } from './setting.js';

const ACCELERATOR_MODES = ['auto', 'float32', 'off'] as const;

export const SPEECH_DECODERS = ['auto', 'batched', 'whisper.cpp'] as const;

export const COMPUTE_TYPES = ['auto', 'int8', 'bfloat16', 'float32'] as const;

const WEIGHT_CACHES = ['on', 'shared', 'off'] as const;

/** The largest value of VERBATIM_BATCH. */
export const MOST_BATCH = 64;

export const DEVICE_SETTINGS = {
  VERBATIM_DEVICE: {
    type: 'device',
    default: 'auto',
    allowed:
      '`auto`, `cpu`, `cuda`, `vulkan`, `vulkan:software`, or `cuda:` or `vulkan:` with device numbers, such as ' +
      '`cuda:0,1`',
    since: '0.1.0',
    about:
      'The device that computes; see [GPUs](gpu.md). `auto` takes the first CUDA device, else the first discrete ' +
      'card of Vulkan, else the CPU. A ' +
      'device that is named and missing stops the start: the service never falls back silently. Each graphics card ' +
      'gets an engine process of its own.',
  },
  VERBATIM_SLOTS: {
    type: 'integer',
    default: null,
    defaultText: 'on a CPU its cores divided by `VERBATIM_THREADS`; on a graphics card `4`',
    minimum: 1,
    maximum: 256,
    since: '0.1.0',
    about:
      'Units of work that a device computes at once. With the `batched` decoder a slot is a lane, which computes ' +
      'parts of an encoding or steps of the batch. With `whisper.cpp` a slot decodes one window; see ' +
      '[Tuning](tuning.md).',
  },
  VERBATIM_THREADS: {
    type: 'integer',
    default: 1,
    minimum: 1,
    maximum: 256,
    since: '0.1.0',
    about:
      'CPU threads per slot. Slots times threads is the number of threads that compute. With the `batched` ' +
      'decoder the threads of idle slots help the busy ones, so one thread per slot is best on most machines.',
  },
  VERBATIM_ACCEL: {
    type: 'choice',
    default: 'auto',
    values: ACCELERATOR_MODES,
    since: '0.1.0',
    about:
      "How a speech model's encoder computes on a CPU. `auto` takes the fastest type; `float32` keeps the encoder " +
      "in that type; `off` leaves it to whisper.cpp's own arithmetic. See [Tuning](tuning.md).",
  },
  VERBATIM_SPEECH_DECODER: {
    type: 'choice',
    default: 'auto',
    values: SPEECH_DECODERS,
    since: '0.2.0',
    about:
      '`batched` decodes the windows of all requests together, `whisper.cpp` one window per slot. `auto` is ' +
      '`batched` on a CPU and on Vulkan, and `whisper.cpp` on CUDA. A Parakeet model decodes one window per slot, ' +
      'and `batched` stops the start.',
  },
  VERBATIM_COMPUTE: {
    type: 'choice',
    default: 'auto',
    values: COMPUTE_TYPES,
    since: '0.2.0',
    about:
      'The number type in which the `batched` decoder and the encoder compute. `int8` is the smallest, `float32` ' +
      'the most exact; `bfloat16` is fast on processors that multiply it. `auto` chooses by the processor; see ' +
      '[Tuning](tuning.md). Other values than `auto` are refused with `whisper.cpp`.',
  },
  VERBATIM_WEIGHT_CACHE: {
    type: 'choice',
    default: 'on',
    values: WEIGHT_CACHES,
    since: '0.2.0',
    about:
      'Whether packed weights are kept beside the model, so that later starts need not pack them. `shared` maps ' +
      'the files into every process, even where each then computes some 5 % slower. `off` neither reads nor ' +
      'writes them.',
  },
  VERBATIM_BATCH: {
    type: 'integer',
    default: null,
    defaultText: '`8` with the `batched` decoder',
    minimum: 1,
    maximum: MOST_BATCH,
    since: '0.2.0',
    about:
      'Windows in flight in the `batched` decoder. An account without a window in flight may start one more, up ' +
      'to twice the limit. A larger number takes more memory and fills the steps better. It is refused with ' +
      '`whisper.cpp`.',
  },
} as const satisfies SettingTable;
