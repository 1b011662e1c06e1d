/** Settings: how audio is read, speakers are identified and text is translated. */
import { ownCommand } from '../../package-root.js';
import type { SettingTable } from './setting.js';

export const VOICE_ACTIVITY = ['auto', 'silero', 'energy'] as const;

const SPEAKERS = ['auto', 'off'] as const;

const TRANSLATION_BACKENDS = ['auto', 'ggml', 'ctranslate2'] as const;

export const AUDIO_SETTINGS = {
  VERBATIM_VAD: {
    type: 'choice',
    default: 'auto',
    values: VOICE_ACTIVITY,
    since: '0.2.0',
    about:
      'How speech is found; only speech is decoded. `silero` is a small network that distinguishes voices from ' +
      `music and noise; \`${ownCommand} models pull silero-vad\` installs it. \`energy\` takes everything that is ` +
      'louder than the background. `auto` is `silero` where that is installed, else `energy`.',
  },
  VERBATIM_FFMPEG: {
    type: 'path',
    default: 'ffmpeg',
    allowed: 'the path of a program, or the name of one in `/usr/local/bin`, `/usr/bin` or `/bin`',
    since: '0.2.0',
    about:
      'The ffmpeg that reads WebM, Matroska, MP4, AAC, CAF, AIFF, AMR and WMA. Without it such files are answered ' +
      '415 `unsupported_audio_format`. It may be installed while the server runs.',
  },
  VERBATIM_SPEAKERS: {
    type: 'choice',
    default: 'auto',
    values: SPEAKERS,
    since: '0.2.0',
    about:
      'Whether speakers are identified. `auto` does so where the two models and their runtime, the optional ' +
      'package `onnxruntime-node`, are installed. With `off` a request for speakers is answered 422 ' +
      '`unsupported_diarization`.',
  },
  VERBATIM_SPEAKER_SEGMENTATION: {
    type: 'name',
    default: '',
    defaultText: 'the bundled model',
    allowed: 'the name of an installed model for speaker segmentation; refused while `VERBATIM_SPEAKERS` is `off`',
    since: '0.2.0',
    about: 'The model that finds who speaks when. The start fails where the model or the runtime is not installed.',
  },
  VERBATIM_SPEAKER_EMBEDDING: {
    type: 'name',
    default: '',
    defaultText: 'the bundled model',
    allowed: 'the name of an installed model for speaker embedding; refused while `VERBATIM_SPEAKERS` is `off`',
    since: '0.2.0',
    about: 'The model that recognises a voice again. The start fails where the model or the runtime is not installed.',
  },
  VERBATIM_TRANSLATION_BACKEND: {
    type: 'choice',
    default: 'auto',
    values: TRANSLATION_BACKENDS,
    since: '0.2.0',
    about:
      'What executes translation models. `auto` is `ggml`. `ctranslate2` is for comparison; it stops the start in ' +
      'a build without it.',
  },
} as const satisfies SettingTable;
