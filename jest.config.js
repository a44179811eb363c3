import { bundledPackages, bundlePackages } from './test/support/bundled-packages.mjs';

await bundlePackages();

/** Tests of values and of single classes: they need no PostgreSQL, and no build. */
const unit = {
  displayName: 'unit',
  testEnvironment: 'node',
  roots: ['<rootDir>/src', '<rootDir>/packages', '<rootDir>/test'],
  testMatch: [
    '<rootDir>/{src,packages/*/src,test/scenarios}/**/*.spec.ts',
    '<rootDir>/test/*.spec.ts',
  ],
  // The first is that of most imports.
  moduleFileExtensions: ['ts', 'tsx', 'js', 'mjs', 'cjs', 'json', 'node'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  transform: { '^.+\\.tsx?$': ['@swc/jest'] },
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    [`^(${bundledPackages.join('|')})$`]: '<rootDir>/.prepared/packages/$1.js',
  },
  modulePathIgnorePatterns: [
    ...['<rootDir>/dist', '<rootDir>/packages/[\\w-]+/dist', '<rootDir>/.dev', '<rootDir>/.data'],
  ],
};

/** Tests of what is started, with its PostgreSQL. */
const started = {
  ...unit,
  setupFilesAfterEnv: ['<rootDir>/test/support/row-types-setup.ts'],
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
};

const service = {
  ...started,
  displayName: 'service',
  testMatch: ['<rootDir>/test/{contract,integration}/**/*spec.ts'],
  runtime: '<rootDir>/test/support/shared-modules-runtime.mjs',
  testEnvironment: '<rootDir>/test/support/shared-modules-environment.mjs',
};

/** Tests of the whole process, which run the build. Each has modules of its own, as a process. */
const build = {
  ...started,
  displayName: 'build',
  testMatch: ['<rootDir>/test/e2e/**/*spec.ts'],
  globalSetup: '<rootDir>/test/support/build-setup.mjs',
};

// Long tests: processes that are killed, faults drawn at random, commands as a newcomer types them,
// and the long form of tests that `npm test` runs with few random cases.
const full = {
  ...build,
  displayName: 'full',
  testMatch: [
    '<rootDir>/test/full/**/*.ts',
    '<rootDir>/src/reconciliation/decide/decide.spec.ts',
    '<rootDir>/test/integration/reconciliation/decided-in-batches.spec.ts',
  ],
};

// Also with the long tests: runs the contract tests a second time, against the service in front of
// the sandbox bank. Webhook registrations are left out: the service does not offer them.
const contractThroughService = {
  ...service,
  displayName: 'contract-through-service',
  testMatch: ['<rootDir>/test/contract/!(sandbox|webhook)*.e2e-spec.ts'],
  globalSetup: '<rootDir>/test/support/service-in-front.mjs',
  setupFiles: ['<rootDir>/test/support/use-service-in-front.mjs'],
};

export default {
  // CONTRACT_BASE_URL names a bank: the contract tests run against that bank only.
  projects:
    process.env.CONCILIA_TESTS === 'full' && !process.env.CONTRACT_BASE_URL
      ? [full, contractThroughService]
      : [unit, service, build],
  maxWorkers: 2,
  testSequencer: '<rootDir>/test/support/longest-first.mjs',
  // A worker's memory grows with each test file: it is replaced between two files before its
  // garbage collection slows the tests.
  workerIdleMemoryLimit: '1500MB',
  // Jest ignores testTimeout inside a project.
  testTimeout: 30_000,
};
