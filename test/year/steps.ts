// What is done with the finished year beyond judging it. A step is null while the service has no such thing; then the
// report says that it was not taken.
import type { House } from './house.js';
import type { Year } from './generate.js';

/** What it found wrong; nothing where all is well. */
export type Step = ((house: House, year: Year) => Promise<string[]>) | null;

export interface Steps {
  /** Closes the statement's spans and every day of the year. */
  closeDays: Step;
  /** Recomputes every certificate from the database alone. */
  verify: Step;
  /** Changes one stored line, then one certificate, and finds each by verifying. */
  tamper: Step;
}

export const steps: Steps = { closeDays: null, verify: null, tamper: null };
