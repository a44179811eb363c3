// Which rule, and which version of it, a form of the pages of rules is about. What cannot name one
// is answered as what does not exist.
import type { AuditedSubject } from '../../access/people/audited-actions.js';
import { AppError } from '../../platform/errors.js';
import type { Visit } from '../requests.js';
import { pathId, typed } from '../visit.js';

/** For the audit. */
export const ruleOf = (visit: Visit): AuditedSubject => `rule ${pathId(visit)}`;

/** The version that the form names. Throws `not_found` for what cannot be one. */
export function readVersion(visit: Visit): number {
  return parseVersion(typed(visit, 'version'));
}

/** The number of a version, from 1; of a text that is none, nothing was found. */
export function parseVersion(text: string | null): number {
  if (text === null || !/^[1-9]\d{0,8}$/.test(text)) throw new AppError('not_found');
  return Number(text);
}
