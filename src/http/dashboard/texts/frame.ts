/** What every page has around its own content, and the names of the pages. */
export const FRAME = {
  language: 'en',
  service: 'Verbatim',
  skip: 'Skip to the content',
  navigation: 'Dashboard',
  signOut: 'Sign out',
  utc: 'UTC',
  pages: {
    overview: 'Overview',
    try: 'Try it',
    usage: 'Usage',
    keys: 'API keys',
    history: 'History',
    account: 'Account',
    accounts: 'Accounts',
    load: 'Load',
    server: 'Server',
  },
} as const;
