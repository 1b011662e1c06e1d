/** What a key may do beyond transcribing. */

/** Making, listing and revoking the account's keys. */
export const MANAGEMENT_SCOPE = 'keys:write';

export const SCOPES: readonly string[] = [MANAGEMENT_SCOPE];
