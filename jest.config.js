const project = {
  testEnvironment: 'node',
  roots: ['<rootDir>/src', '<rootDir>/test'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest'] },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/.data'],
};

const service = {
  ...project,
  displayName: 'service',
  testMatch: ['**/*.spec.ts', '**/*.e2e-spec.ts'],
};

// Runs the contract tests a second time, against the service in front of the sandbox bank. Webhook
// registrations are left out: the service does not offer them.
const contractThroughService = {
  ...project,
  displayName: 'contract-through-service',
  testMatch: ['<rootDir>/test/contract/!(sandbox|webhook)*.e2e-spec.ts'],
  globalSetup: '<rootDir>/test/support/service-in-front.mjs',
  setupFiles: ['<rootDir>/test/support/use-service-in-front.mjs'],
};

export default {
  // CONTRACT_BASE_URL names a bank: the contract tests run against that bank only.
  projects: process.env.CONTRACT_BASE_URL ? [service] : [service, contractThroughService],
  maxWorkers: 2,
  // Jest ignores testTimeout inside a project.
  testTimeout: 30_000,
};
