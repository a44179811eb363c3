// The configuration of `npm run bench`. Benches run one at a time on the PostgreSQL of the tests.
export default {
  rootDir: '..',
  roots: ['<rootDir>/bench'],
  testMatch: ['**/*.spec.ts'],
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest'] },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
  maxWorkers: 1,
  testTimeout: 1_800_000,
};
