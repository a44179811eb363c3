import { readFileSync } from 'node:fs';

/** The settings of .swcrc, for files with TSX, as tsconfig.json sets it for the compiler. */
const swc = JSON.parse(readFileSync(new URL('.swcrc', import.meta.url), 'utf8'));
const withJsx = {
  ...swc,
  swcrc: false,
  jsc: {
    ...swc.jsc,
    parser: { ...swc.jsc.parser, tsx: true },
    transform: { ...swc.jsc.transform, react: { runtime: 'automatic', importSource: 'preact' } },
  },
};

const project = {
  testEnvironment: 'node',
  roots: ['<rootDir>/src', '<rootDir>/test'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  transform: {
    '^.+\\.ts$': ['@swc/jest'],
    '^.+\\.tsx$': ['@swc/jest', withJsx],
  },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
  setupFilesAfterEnv: ['<rootDir>/test/support/row-types-setup.mjs'],
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/.data'],
};

const service = {
  ...project,
  displayName: 'service',
  testMatch: ['**/*.spec.ts', '**/*.e2e-spec.ts'],
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/full/'],
};

// Long tests: processes that are killed, faults drawn at random, commands as a newcomer types them,
// and the long form of tests that `npm test` runs with few random cases.
const full = {
  ...project,
  displayName: 'full',
  testMatch: [
    '<rootDir>/test/full/**/*.ts',
    '<rootDir>/src/reconciliation/decide/decide.spec.ts',
    '<rootDir>/test/integration/decided-in-batches.spec.ts',
  ],
};

// Also with the long tests: runs the contract tests a second time, against the service in front of
// the sandbox bank. Webhook registrations are left out: the service does not offer them.
const contractThroughService = {
  ...project,
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
      : [service],
  maxWorkers: 2,
  // A worker holds the modules of every test file that it has run: it is replaced between two files
  // before its garbage collection slows the tests.
  workerIdleMemoryLimit: '1500MB',
  // Jest ignores testTimeout inside a project.
  testTimeout: 30_000,
};
