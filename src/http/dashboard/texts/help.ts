export const HELP = {
  lead:
    'Answers to what is asked most. The manual explains how to use and run the service. The API reference lists ' +
    'every request and every field.',
  manual: 'Open the manual',
  reference: 'Open the API reference',
  start: {
    title: 'Get started',
    steps: {
      key: { link: 'Create an API key', rest: ' and save it: it is shown once.' },
      send: {
        link: 'Transcribe a recording',
        rest: ' on this dashboard. The page shows the same request in curl, Python and JavaScript.',
      },
      watch: { link: 'Follow your requests', rest: ' and see what each one cost.' },
    },
  },
  questions: [
    {
      title: 'What does a request cost?',
      text:
        'Every started minute of audio costs credits; translation and speaker identification may cost more. The ' +
        'Transcribe page shows the prices of this server. A failed request is free.',
    },
    {
      title: 'What is stored?',
      text:
        'The time, length, language, model and price of each request, and the name of its file. Text and audio are ' +
        'stored of the transcripts that you keep, and text of the results of jobs, which are deleted after some days.',
    },
    {
      title: 'Which files can I send?',
      text:
        'WAV, FLAC, MP3 and OGG, up to 100 MB. Servers with ffmpeg also read WebM, MP4, M4A and other files that ' +
        'phones and browsers record.',
    },
    {
      title: 'How do I control a transcript with the keyboard?',
      text: 'Move to a word with the arrow keys, Home and End. Enter or the space bar plays from that word.',
    },
    {
      title: 'Who can help me?',
      text:
        'The operator of this server. Mention the request id, which is shown in Activity and in the header ' +
        'X-Request-Id of every answer.',
    },
  ],
} as const;
