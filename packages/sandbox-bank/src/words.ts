// The words of the sandbox bank, as a test writes them. The package has no types of the sandbox
// itself: `build.mjs` writes their values in place of these imports, and fails where its list is
// not that of `index.ts`. A word that is added here is added to both. Also what the process of a
// bank answers.
import type { FaultEndpoint, FaultKind } from '../../../src/sandbox/faults/fault.js';
import type { Preset } from '../../../src/sandbox/presets/presets.js';
import type { reportableDisputes } from '../../../src/sandbox/refunds/med.schema.js';

/** `*` is every endpoint. */
export type { FaultEndpoint };
/** What happens to a call, a payment, a webhook or the statement. */
export type { FaultKind };
/** What the bank shows beyond its contract. */
export type { Preset };
/** The event types of disputes. */
export type DisputeEvent = (typeof reportableDisputes)[number];

export interface OpenedAccount {
  branch: string;
  number: string;
  apiKey: string;
}

/** What the process answers once: the bank, or why there is none. */
export type BankAnswer =
  { url: string; accounts: OpenedAccount[]; partnerKey: string } | { error: string };
