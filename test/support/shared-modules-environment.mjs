// The environment of shared-modules-runtime.mjs: test files run in the worker's own global scope,
// in which the shared modules run. What a test file leaves there is put back.
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

export default class SharedModulesEnvironment {
  constructor({ projectConfig }) {
    this.global = globalThis;
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    this.before = { console, env: { ...process.env }, exit: process.exit };
  }

  async setup() {
    Error.prepareStackTrace = undefined; // Node.js has the source maps, Jest has not
  }

  async teardown() {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    const { env, exit } = this.before;
    globalThis.console = this.before.console;
    process.exit = exit;
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return null; // nothing runs in a context of its own
  }
}
