export const ACCOUNTS = {
  state: 'State',
  open: 'active',
  suspended: 'suspended',
  suspendedAt: 'suspended',
  suspend: 'Suspend',
  suspendNote:
    'Keys and sessions of the account are refused until it is resumed. Its running requests are stopped and not ' +
    'charged.',
  suspendLink: 'Suspend the account …',
  suspendTitle: 'Suspend an account',
  suspendSubmit: 'Suspend the account',
  dontSuspend: 'Do not suspend it',
  resumeNote: 'The account is suspended. When it is resumed, its keys work again and its users must sign in again.',
  resumeSubmit: 'Resume the account',
  data: 'Account data',
  exportNote: 'All stored data of the account as one JSON file, including answers stored for repeated requests.',
  exportLink: 'Export',
  deleteLink: 'Delete the account …',
  deleteTitle: 'Delete an account',
  deleteNote:
    'Its keys, sessions, jobs, stored answers, e-mail address and name are deleted for good, and its remaining ' +
    'credits expire. Grants and charges stay in the ledger under an anonymous id.',
  deleteConfirm: 'To confirm, type the e-mail address of the account',
  deleteMismatch: 'This is not the e-mail address of the account. Nothing was deleted.',
  deleteSubmit: 'Delete the account',
  keep: 'Keep it',
  make: 'Create an account',
  makeSubmit: 'Create account',
  list: 'All accounts',
  email: 'E-mail address',
  name: 'Name',
  optional: 'Name (may be empty)',
  role: 'Role',
  balance: 'Credits',
  created: 'Created',
  next: 'Next',
  first: 'First page',
  grant: 'Grant credits',
  amount: 'Credits',
  wholeNumber: 'A whole number, at least 1.',
  expires: 'Last day on which they can be spent (UTC); leave empty if they do not expire',
  makeLinks: { operator: 'Make it an operator …', user: 'Remove the operator role …' },
  roleTitles: { operator: 'Make an account an operator', user: 'Remove the operator role' },
  roleNotes: {
    operator:
      'Anyone who signs in to this account can see and change all accounts, credits and settings of the service, ' +
      'and can create admin keys.',
    user:
      'Anyone who signs in to this account sees only the account itself. Its admin keys stay valid until they are ' +
      'revoked.',
  },
  roleSubmits: { operator: 'Make it an operator', user: 'Remove the role' },
  dontChange: 'Leave it as it is',
  link: 'Sign-in link',
  linkNote:
    'The link works once, within a day, and replaces the previous one. Anyone who has it can sign in to this ' +
    'account.',
  makeLink: 'Create a sign-in link',
  madeLink: 'Sign-in link for',
  copy: 'Copy',
  copied: 'Copied.',
  back: 'Back to the account',
} as const;
