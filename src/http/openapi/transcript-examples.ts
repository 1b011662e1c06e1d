/** Examples of kept transcripts. */
const CREATED_AT = '2026-11-20T17:24:00.000Z';
const EXPIRES_AT = '2026-12-20T17:24:00.000Z';
const ID = 'tr_jWe1pcjYDMW83_ro3txM0A';
const SHARE_ID = 'share_x1ZtJ0m4k9Qe2Lw7';
const TEXT = 'Hoy es domingo, dieciocho de mayo.';

const row = {
  ...{ id: ID, title: 'interview.mp3', created_at: CREATED_AT, expires_at: EXPIRES_AT, duration_sec: 3.349 },
  ...{ language: 'es', speakers: ['Ada'], model: 'base', source: { kind: 'api', name: 'laptop' } },
};

export const transcriptExamples = {
  TranscriptList: {
    found: { value: { transcripts: [{ ...row, snippet: { text: TEXT, at: 0.24 } }], next_cursor: null } },
  },
  KeptTranscript: {
    kept: {
      value: {
        ...{ ...row, speaker_names: { S1: 'Ada' }, text: TEXT },
        segments: [{ start: 0.24, end: 3.1, text: TEXT, speaker: 'S1' }],
        words: [{ word: 'Hoy', start: 0.24, end: 0.48, probability: 0.98, speaker: 'S1' }],
        notes: [{ id: 'note_mvC0kFvXqzT1', at: 1.2, text: 'Ask again.' }],
        ...{ version: 2, audio: true },
      },
    },
  },
  UpdateTranscriptRequest: {
    corrected: { value: { version: 1, speakers: { S1: 'Ada' }, segments: [{ index: 0, text: 'Hoy es lunes.' }] } },
  },
  DeletedTranscript: { deleted: { value: { id: ID, deleted_at: CREATED_AT } } },
  CreateShareRequest: { 'with audio': { value: { expires_at: EXPIRES_AT, audio: true } } },
  CreatedShare: {
    link: {
      value: {
        ...{ id: SHARE_ID, expires_at: EXPIRES_AT },
        url: 'https://verbatim.example.org/share/p3Jf0cX9vQm2Rk7Lw1Zt8Yb5Nd4Hs6Gav0Xq3Ty7Ui0',
      },
    },
  },
  ShareList: {
    one: { value: { shares: [{ id: SHARE_ID, created_at: CREATED_AT, expires_at: EXPIRES_AT, audio: true }] } },
  },
  RevokedShare: { revoked: { value: { id: SHARE_ID, revoked_at: CREATED_AT } } },
};
