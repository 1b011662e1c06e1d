/** The operators' log: every action on their pages or on the command line can be looked up. */

export interface OperatorAction {
  /** Of the account that was signed in; null: the command line. */
  operatorId: string | null;
  /** In a word: 'suspended'. */
  action: string;
  /** The id of an account or the name of a model, at most 100 characters; null: the action has no such subject. */
  subject: string | null;
  /** How much, or which: the credits of a grant, a role; 100 characters are kept. */
  detail?: string | null;
}

export interface ActionOutcome {
  outcome: 'done' | 'refused';
  /** Of an action that made its subject. */
  subject?: string | null;
}

export interface NotedAction {
  /** Where a list goes on. */
  id: string;
  at: string;
  operatorId: string | null;
  action: string;
  subject: string | null;
  detail: string | null;
  /** null: it is under way, or was when its process died. */
  outcome: ActionOutcome['outcome'] | null;
  /** The operator's; null: the account is deleted, or it was the command line. */
  email: string | null;
  /** The e-mail address of the subject's account; null: the subject is no account, or it does not exist any more. */
  subjectEmail: string | null;
}

export const MOST_SUBJECT_CHARACTERS = 100;

/** Of what the command line does with a whole database: noted with its outcome, in the database that has it then. */
export type DatabaseAction = Pick<OperatorAction, 'action' | 'detail'>;

/** Never deleted, and never changed but for the outcome, which is written once. */
export interface OperatorLog {
  /** Written before it is done. Resolves to the id that `conclude` takes. */
  note(action: OperatorAction): Promise<string>;
  conclude(id: string, outcome: ActionOutcome): Promise<void>;
  /** The newest first; `before`: the last one of the page before. */
  list(page: { limit: number; before: string | null }): Promise<NotedAction[]>;
}

/** Does the work, with its beginning and its outcome in the log. What throws was refused. */
export async function recordAction<T>(
  log: OperatorLog,
  action: OperatorAction,
  work: () => Promise<T>,
  outcomeOf: (done: T) => ActionOutcome = () => ({ outcome: 'done' }),
): Promise<T> {
  const id = await log.note(action);
  let done: T;
  try {
    done = await work();
  } catch (error) {
    await log.conclude(id, { outcome: 'refused' });
    throw error;
  }
  await log.conclude(id, outcomeOf(done));
  return done;
}
