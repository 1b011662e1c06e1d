export const ERRORS = {
  title: 'Something went wrong',
  back: 'Back to the dashboard',
  otherOrigin: 'This form was not sent from a page of this server. Open the dashboard and try again.',
  notPrivate:
    'Signing in requires HTTPS, or a local address such as http://localhost: over plain HTTP, others on the ' +
    'network could read the password. Put an HTTPS proxy in front and name it in VERBATIM_TRUST_PROXY, or use ' +
    '"ssh -L".',
  notFound: 'There is no page at this address.',
  suspended: 'This account is suspended. Ask the operator of the service why.',
  signedOut: 'Your session has ended. Sign in again.',
  noKey: 'There is no such key.',
  adminKey: 'Only operators can create admin keys.',
  noEntry: 'There is no such page of the activity.',
  noFilter: (name: string) => `The filter "${name}" has a value that is not one of its choices.`,
  noResult: 'This job has no result to download.',
  noJob: 'There is no such job.',
  jobEnded: 'This job ended before it could be cancelled. Its result is kept.',
  jobOpen: 'This job is still running; cancel it before you delete it.',
  noTheme: 'The theme must be system, light or dark.',
  noGrouping: 'Usage can be downloaded by day, key or model.',
  noWindow: 'Usage is available for 7, 30 or 90 days.',
  noAccount: 'There is no such account.',
  ownAccount: 'You cannot suspend or delete your own account. Another operator can, or use the command line.',
  ownRole: 'You cannot remove your own operator role. Another operator can, or use the command line.',
  noSession: 'There is no such session.',
  busy: 'Too many people are signing in right now. Try again in a few seconds.',
  form: (field: string) => `The form is incomplete: "${field}" is missing.`,
} as const;
