/** The key that the dashboard's own requests are booked under; nobody has its raw form. */
export const dashboardKeys = `
CREATE TABLE dashboard_keys (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  key_id     TEXT NOT NULL UNIQUE REFERENCES api_keys (id)
) STRICT, WITHOUT ROWID;
`;
