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

const house = { ...project, displayName: 'house', testMatch: ['**/*.spec.ts', '**/*.e2e-spec.ts'] };

// What holds for any bank of the contract is asked once more, of the service in front of the sandbox; but for the
// registration of webhooks, which the service keeps to itself.
const contractThroughService = {
  ...project,
  displayName: 'contract-through-service',
  testMatch: ['<rootDir>/test/contract/!(sandbox|webhook)*.e2e-spec.ts'],
  globalSetup: '<rootDir>/test/support/service-in-front.mjs',
  setupFiles: ['<rootDir>/test/support/ask-service-in-front.mjs'],
};

export default {
  // Whoever names a bank wants that one asked, and no other.
  projects: process.env.CONTRACT_BASE_URL ? [house] : [house, contractThroughService],
  maxWorkers: 2,
  // Read here alone where there are projects.
  testTimeout: 30_000,
};
