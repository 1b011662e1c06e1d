/** All English text of the dashboard, one file a page in `texts/`: a translation needs only another such folder. */
import { SIGN_IN } from './texts/sign-in.js';
import { HOME, PACKS } from './texts/home.js';
import { TRANSCRIPTS } from './texts/transcripts.js';
import { TRY } from './texts/transcribe.js';
import { USAGE } from './texts/usage.js';
import { KEYS } from './texts/keys.js';
import { HISTORY, JOBS } from './texts/activity.js';
import { ACCOUNTS } from './texts/customers.js';
import { ACCOUNT } from './texts/settings.js';
import { LOAD } from './texts/load.js';
import { SERVER } from './texts/server.js';
import { DEMONSTRATION, MODELS } from './texts/models.js';
import { OPERATORS } from './texts/operators.js';
import { ERRORS } from './texts/errors.js';
import { NOTICES } from './texts/notices.js';
import { COMPONENTS } from './texts/components.js';
import { HELP } from './texts/help.js';
import { FRAME } from './texts/frame.js';

export const TEXTS = {
  ...FRAME,
  components: COMPONENTS,
  help: HELP,
  errors: ERRORS,
  notices: NOTICES,
  signIn: SIGN_IN,
  home: HOME,
  packs: PACKS,
  try: TRY,
  transcripts: TRANSCRIPTS,
  usage: USAGE,
  keys: KEYS,
  history: HISTORY,
  jobs: JOBS,
  accounts: ACCOUNTS,
  account: ACCOUNT,
  load: LOAD,
  server: SERVER,
  demonstration: DEMONSTRATION,
  models: MODELS,
  operators: OPERATORS,
} as const;

export type Notice = keyof typeof TEXTS.notices;
export type OperatorActionName = keyof typeof TEXTS.operators.actions;
