// After all tests: ends the PostgreSQL that global-setup.mjs started.
export default async function globalTeardown() {
  await globalThis.stopTestPostgres?.();
}
