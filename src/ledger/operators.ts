/** What operators asked for on their pages, so that nothing is done there that nobody can look up. */

export interface OperatorAction {
  /** Of the account that was signed in. */
  operatorId: string;
  /** In a word: 'suspend'. */
  action: string;
  /** An account's id or a model's name, of which 100 characters are kept; null: it is about none. */
  subject: string | null;
}

export interface NotedAction extends OperatorAction {
  /** Where a list goes on. */
  id: string;
  at: string;
  /** The operator's; null: the account is deleted. */
  email: string | null;
}

export const MOST_SUBJECT_CHARACTERS = 100;

/** Never changed and never forgotten. */
export interface OperatorLog {
  /** Written before it is done, whether it then succeeds or not. */
  note(action: OperatorAction): Promise<void>;
  /** The newest first; `before`: the last one of the page before. */
  list(page: { limit: number; before: string | null }): Promise<NotedAction[]>;
}
