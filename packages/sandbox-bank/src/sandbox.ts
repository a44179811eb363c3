// What the process of a bank has of the sandbox, loaded while PostgreSQL starts.
export { FirstAccounts } from '../../../src/sandbox/accounts/accounts.service.js';
export { faultEndpoints, faultKinds } from '../../../src/sandbox/faults/fault.js';
export { createSandbox } from '../../../src/sandbox/sandbox.module.js';
