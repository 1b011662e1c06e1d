export const TRY = {
  noScript:
    'This page needs JavaScript to play the audio next to its transcript. The API works without it: see the curl ' +
    'command of a new key.',
  choose: 'Choose a recording, or drop one here',
  formats: 'WAV, FLAC, MP3, OGG, and what browsers and phones record; at most 100 MB.',
  record: 'Record with the microphone',
  stop: 'Stop recording',
  captions: (perMinute: number, translation: number) =>
    `Show captions while I speak (${perMinute} credits per started minute, beside the transcript's own` +
    `${translation === 0 ? '' : `; with a translation ${perMinute + translation}`})`,
  captionsTitle: 'Captions',
  language: 'Spoken language',
  detect: 'detect',
  translate: 'Translate into',
  dont: 'do not translate',
  diarize: 'Identify speakers',
  speakers: 'Number of speakers, if you know it',
  submit: 'Transcribe',
  cancel: 'Cancel',
  progress: 'Progress',
  soFar: 'So far',
  audio: 'The recording',
  wordHelp: 'Click a word to hear it, or select it with the arrow keys and press Enter.',
  price: (perMinute: number) => `Credits per started minute of audio: ${perMinute}.`,
  surcharges: (translation: number, diarization: number) =>
    `In addition, for translation: ${translation}; for speaker identification: ${diarization}.`,
  balance: 'You have:',
  estimate: 'The server measures the length of a recording before it starts, and charges by that length.',
  result: 'Transcript',
  translation: 'Translation',
  files: 'Download',
  /** For the page's script; {names} are filled in there. */
  script: {
    estimated: '{name}: about {seconds} s, which will cost about {credits} of your credits.',
    estimatedAtMost: '{name}: about {seconds} s, which will cost at most about {credits} of your credits.',
    willCost: '{name}: {seconds} s, which will cost {credits} of your credits.',
    willCostAtMost: '{name}: {seconds} s, which will cost at most {credits} of your credits.',
    tooLittle: 'You have only {balance}.',
    unknownLength: '{name}: the server shows its length and price before it starts; see the price per minute.',
    nothingChosen: 'Choose a recording first.',
    uploading: 'Sending …',
    waiting: 'Sent. The server is reading the file …',
    working: 'Transcribing {seconds} s; {credits} of your credits are held for it …',
    finishing: 'Finishing …',
    percent: '{percent} %',
    cancelled:
      'Cancelled. Text that you received is charged by the started minute. Without any text, nothing is charged.',
    silence: 'No speech was recognised.',
    noWords: 'no words recognised',
    done: 'Done. Credits spent: {credits}; left: {left}.',
    failed: 'This failed: {message}',
    broken: 'The connection was lost.',
    noMicrophone: 'The microphone cannot be used: {message}',
    notSecure:
      'Browsers allow the microphone only on pages that were loaded over HTTPS or from the same machine ' +
      '(http://localhost).',
    recording: 'Recording …',
    captionsFailed: 'The captions ended: {message}',
    recorded: 'recording.webm',
    playFrom: 'Play from {time}',
    speaker: 'Speaker {name}',
  },
} as const;
