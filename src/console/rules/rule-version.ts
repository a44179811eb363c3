// Which rule, and which version of it, a form of the pages of rules is about.
import type { AuditedSubject } from '../../operators/audited-actions.js';
import { AppError } from '../../platform/errors.js';
import type { Visit } from '../requests.js';
import { pathId, typed } from '../visit.js';

/** For the audit. */
export const ruleOf = (visit: Visit): AuditedSubject => `rule ${pathId(visit)}`;

/** The version that the form names. Throws `not_found` for what is no version's number. */
export function readVersion(visit: Visit): number {
  return parseVersion(typed(visit, 'version'));
}

export function parseVersion(text: string | null): number {
  if (text === null || !/^[1-9]\d{0,8}$/.test(text)) throw new AppError('not_found');
  return Number(text);
}
