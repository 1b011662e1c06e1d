import { tables } from './001-tables.js';
import { holds } from './002-holds.js';
import { answers } from './003-answers.js';
import { jobFunctions } from './004-jobs.js';
import { instances } from './005-instances.js';
import { operators } from './006-operators.js';
import { outcomesOfOperators } from './007-operator-outcomes.js';
import { usageModels } from './008-usage-models.js';
import { activityTables } from './010-activity.js';
import { transcriptTables } from './011-transcripts.js';

/** In order; the schema's version is how many of them have been applied. */
export const POSTGRES_MIGRATIONS: readonly string[] = [
  tables,
  holds,
  answers,
  jobFunctions,
  instances,
  operators,
  outcomesOfOperators,
  usageModels,
  activityTables,
  transcriptTables,
];
