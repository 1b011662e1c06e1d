import { initial } from './001-initial.js';
import { structuredResults } from './002-structured-results.js';
import { derivedKeys } from './003-derived-keys.js';
import { jobs } from './004-jobs.js';
import { access } from './005-access.js';
import { dashboardKeys } from './006-dashboard-keys.js';
import { undelivered } from './007-undelivered.js';
import { administration } from './008-administration.js';
import { operatorActions } from './011-operator-actions.js';
import { reversals } from './012-reversals.js';
import { operatorOutcomes } from './013-operator-outcomes.js';
import { modelsOfUsage } from './014-usage-models.js';
import { activity } from './016-activity.js';
import { keptTranscripts } from './017-transcripts.js';

/** In order, forward only: the n-th brings a database from version n-1 to n. Never edit one that was released. */
export const MIGRATIONS: readonly string[] = [
  initial,
  structuredResults,
  derivedKeys,
  jobs,
  access,
  dashboardKeys,
  undelivered,
  administration,
  operatorActions,
  reversals,
  operatorOutcomes,
  modelsOfUsage,
  activity,
  keptTranscripts,
];
