export const HOME = {
  credits: 'Available credits',
  noPace: 'Nothing was spent in the last seven days.',
  empty: 'Nothing is left.',
  lasts: (days: number) => {
    if (days < 1) return 'Less than a day at this pace.';
    if (days > 365) return 'More than a year at this pace.';
    return days < 2 ? 'About a day at this pace.' : `About ${Math.floor(days)} days at this pace.`;
  },
  granted: (credits: string) => `Of ${credits} granted in total.`,
  minutes: 'Minutes in seven days',
  requests: (requests: string) => `Requests: ${requests}.`,
  running: 'Running now',
  waiting: (jobs: string) => `Jobs waiting: ${jobs}.`,
  noneWaiting: 'No job is waiting.',
  transcribe: 'Transcribe a recording',
  days: {
    title: 'Last seven days',
    link: 'Usage',
    minutes: 'minutes',
    chart: (days: string) => `Minutes per day: ${days}.`,
    none: { title: 'No recording in the last seven days', text: 'What you transcribe is shown here, day by day.' },
  },
  transcripts: { title: 'Recent transcripts', link: 'All transcripts' },
  recent: {
    title: 'Recent activity',
    link: 'All activity',
    none: { title: 'Nothing was transcribed yet', text: 'Requests of this page and of your programs are listed here.' },
    seconds: (seconds: string) => `${seconds} s`,
    unknown: 'language unknown',
    credits: (credits: string) => `${credits} credits`,
  },
  work: {
    title: 'At work',
    at: 'Started',
    what: 'Request',
    progress: 'Progress',
    held: 'Credits held',
    progressOf: (id: string) => `Progress of ${id}`,
    percent: (percent: number) => `${percent} %`,
    running: 'running',
  },
  steps: {
    title: 'Get started',
    note: (done: number, all: number) => `${done} of ${all} steps are done.`,
    done: 'Done:',
    open: 'To do:',
    model: { title: 'Use a real model', text: 'The demonstration model does not transcribe real recordings.' },
    key: { title: 'Create an API key', text: 'Programs send it with every request.' },
    recording: { title: 'Transcribe a recording', text: 'Choose a file, or speak into the microphone.' },
    call: {
      title: 'Send the same request from a program',
      text: 'Copy the call that is shown beside a transcript.',
    },
  },
} as const;

export const PACKS = {
  title: 'Credit packs',
  note: 'Credits are spent from the pack that expires first.',
  none: 'No credits have been granted yet.',
  granted: 'Granted',
  amount: 'Credits',
  left: 'Remaining',
  held: 'Held by running requests',
  spent: 'Spent',
  lost: 'Expired',
  expires: 'Expires',
  never: 'never',
  moreLeft: (packs: number) => `Of the packs without remaining credits, only the ${packs} newest are shown.`,
} as const;
