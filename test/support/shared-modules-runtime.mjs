// A runtime for Jest that loads modules as Node.js does: packages and sources once in a worker, for
// all of its test files, and only the test file itself anew. Jest's own runtime loads and compiles
// more than a thousand modules for each test file. What a module holds outlives the test file: a
// test compares counters with what they were before. `jest.mock` does nothing here.
import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';
import Runtime from 'jest-runtime';
import { setJestGlobals } from './jest-globals.mjs';

register('./shared-modules-hooks.mjs', import.meta.url);
process.setSourceMapsEnabled(true);

let run = 0;

export default class SharedModulesRuntime extends Runtime {
  constructor(...given) {
    super(...given);
    // What Jest keeps there for another test file.
    for (const name of ['EVENT_HANDLERS', 'TEST_TIMEOUT_SYMBOL'])
      delete globalThis[Symbol.for(name)];
    run += 1;
  }

  /** Called for the test file and for each set-up file. */
  async unstable_importModule(path) {
    setJestGlobals(this.jestGlobals.cjsGlobals(path));
    return import(`${pathToFileURL(path).href}?run=${run}`);
  }

  /** Jest's own modules: only the one that holds a test file's tests is loaded anew. */
  requireInternalModule(from, name) {
    const require = createRequire(from);
    const path = require.resolve(name ?? from);
    if (path.endsWith('jestAdapterInit.js')) delete require.cache[path];
    return require(path);
  }

  installGetBuiltinModule() {} // it would replace a function of this process
}
