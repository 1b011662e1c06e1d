/** The scopes of a key: rights beyond transcribing. */

/** Making, listing and revoking the account's keys. */
export const MANAGEMENT_SCOPE = 'keys:write';

/** The accounts, credits and usage of everybody: made by the command line and on an operator's page only. */
export const ADMIN_SCOPE = 'admin';

export const SCOPES: readonly string[] = [MANAGEMENT_SCOPE, ADMIN_SCOPE];
