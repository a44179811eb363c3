// `@jest/globals` of the modules that test files share: what it exports belongs to the test file
// that runs.
export let afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test;

export function setJestGlobals(globals) {
  ({ afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test } = globals);
}
