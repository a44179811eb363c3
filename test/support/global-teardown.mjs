// After all tests: ends the service that stood in front of a sandbox, then the PostgreSQL that global-setup.mjs started.
export default async function globalTeardown() {
  await globalThis.stopServiceInFront?.();
  await globalThis.stopTestPostgres?.();
  globalThis.stopServiceInFront = undefined;
  globalThis.stopTestPostgres = undefined;
}
