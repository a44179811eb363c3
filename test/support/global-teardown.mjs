// Runs after all tests: stops the service of service-in-front.mjs, then the PostgreSQL of
// global-setup.mjs.
export default async function globalTeardown() {
  await globalThis.stopServiceInFront?.();
  await globalThis.stopTestPostgres?.();
  globalThis.stopServiceInFront = undefined;
  globalThis.stopTestPostgres = undefined;
}
