// The forms of what people do with a version of a rule, which stand on several pages.
import { AppError } from '../../platform/errors.js';
import { type FormFields, reasonField } from '../kit/form.js';
import { typed, type Visit } from '../visit.js';

interface Of {
  visit: Visit;
  ruleId: string;
  version: string;
}

/** Shorter than elsewhere, as in the requests of the API. */
export const ruleReason = { reason: { ...reasonField.reason, maxLength: 300 } } as const;

export const trialFields = {
  from: { label: 'word.from', is: 'date', hint: 'ruleTrial.periodHint' },
  to: { label: 'word.to', is: 'date' },
} as const satisfies FormFields;

/** Chooses the period of a trial and starts it. */
export const trialForm = ({ visit, ruleId, version }: Of) =>
  ({
    ...{ fields: trialFields, hidden: { version }, area: 'ruleTrial' },
    action: visit.to(`rules/${ruleId}/try`),
    intro: 'ruleTrial.startHint',
    button: 'ruleTrial.start',
  }) as const;

export const reorderFields = {
  priority: { label: 'rules.order', is: 'number', min: 0, max: 100_000, required: true },
  ...ruleReason,
} as const satisfies FormFields;

export const reorderForm = ({ visit, ruleId, version }: Of) =>
  ({
    ...{ fields: reorderFields, hidden: { version }, shown: `version ${version}` },
    action: visit.to(`rules/${ruleId}/reorder`),
    intro: 'rules.reorderHint',
    button: 'rules.reorder',
  }) as const;

/** For the audit. */
export const ruleOf = 'rule :id';

/** The version that the form names. Throws `not_found` for what cannot be one. */
export function readVersion(visit: Visit): number {
  return parseVersion(typed(visit, 'version'));
}

/** The number of a version, from 1; of a text that is none, nothing was found. */
export function parseVersion(text: string | null): number {
  if (text === null || !/^[1-9]\d{0,8}$/.test(text)) throw new AppError('not_found');
  return Number(text);
}
