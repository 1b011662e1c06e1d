export const USAGE = {
  window: 'Period',
  days: (days: number) => `${days} days`,
  minutes: 'Minutes billed',
  credits: 'Credits spent',
  requests: 'Requests',
  chart: (days: number) => `Minutes per day in the last ${days} days, by endpoint; the table below has the figures.`,
  byDay: 'By day and endpoint',
  day: 'Day (UTC)',
  endpoint: 'Endpoint',
  csv: 'Download as CSV',
  none: 'Nothing was transcribed in this period.',
} as const;
