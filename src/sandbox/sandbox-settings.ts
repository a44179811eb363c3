import type { Log } from '../platform/log.js';

/** What the sandbox bank is started with; a class so that it can be injected. */
export class SandboxSettings {
  constructor(
    readonly databaseUrl: string,
    readonly log: Log,
    /** The key of account 1000001. */
    readonly apiKey: string,
    /** The key of the onboarding API's partner. */
    readonly partnerKey: string,
  ) {}
}
