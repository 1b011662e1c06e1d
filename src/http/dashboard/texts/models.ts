export const DEMONSTRATION = {
  title: 'The demonstration model is in use',
  note: 'It knows a phrase book in four languages and does not transcribe real recordings.',
  ask: 'The operator of this service can download a real model.',
  fetch: (name: string, mib: string | null) => (mib === null ? `Download ${name}` : `Download ${name} (${mib} MiB)`),
  use: (name: string) => `Use ${name}`,
  coming: (name: string, mib: { received: string; total: string } | null) =>
    mib === null ? `${name} is being downloaded.` : `${name} is being downloaded: ${mib.received} of ${mib.total} MiB.`,
  searching: 'The server is measuring which published model is fast enough on this machine, and will download it.',
  waiting: (problem: string) => `No real model could be downloaded; the server tries again every hour. ${problem}.`,
  changing: (name: string) => `${name} is being loaded.`,
  all: 'All models',
} as const;

export const MODELS = {
  title: 'Models',
  note:
    'A download continues when this page is closed, and an interrupted one resumes where it stopped. Files are ' +
    'verified before they are used.',
  useNote: 'The speech model can be changed without a restart. Running requests finish with the old model.',
  use: 'Use',
  useThe: (name: string) => `Use ${name}`,
  changing: ({ phase, to, requests }: { phase: 'starting' | 'checking' | 'draining'; to: string; requests: number }) =>
    ({
      starting: `${to} is being loaded.`,
      checking: `${to} is being checked.`,
      draining: `${to} is in use; requests that still run with the previous model: ${requests}.`,
    })[phase],
  refused: (name: string, error: string) => `${name} was not put into service: ${error}`,
  afterRestart: (name: string) => `After a restart, ${name} will be in use.`,
  reload: 'Reload',
  name: 'Name',
  kind: 'For',
  licence: 'Licence',
  size: 'MiB',
  state: 'State',
  action: 'Action',
  unknown: 'unknown',
  serves: 'in use',
  installed: 'installed',
  available: 'not installed',
  begun: (mib: string) => `not installed; ${mib} MiB downloaded`,
  unavailable: 'not installed, not available for download',
  downloading: (received: string, total: string) => `${received} of ${total} MiB`,
  checking: 'downloaded; being verified',
  progressOf: (name: string) => `Download of ${name}`,
  download: 'Download',
  downloadThe: (name: string) => `Download ${name}`,
  again: 'Try again',
  againThe: (name: string) => `Try again to download ${name}`,
  cancel: 'Cancel',
  cancelThe: (name: string) => `Cancel the download of ${name}`,
  notRunning: (name: string) => `The model "${name}" is not being downloaded.`,
} as const;
