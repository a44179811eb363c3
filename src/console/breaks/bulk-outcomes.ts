// What became of each break of a bulk action, as the address of the result page has it: ids and
// codes, and nothing that a person wrote.
import { isUuid } from '../../platform/http/listing.js';
import { maxPreviewed } from './bulk-choice.js';

const outcomes = ['done', 'unchanged', 'refused'] as const;

export interface ReadOutcome {
  id: string;
  outcome: (typeof outcomes)[number];
  /** Why it was refused. */
  code: string | null;
}

export function writeOutcome({ id, outcome, code }: ReadOutcome): string {
  return [id, outcome, ...(code === null ? [] : [code])].join('~');
}

/** What is not written so is left out. */
export function outcomesIn(query: URLSearchParams): ReadOutcome[] {
  return query
    .getAll('of')
    .slice(0, maxPreviewed)
    .flatMap((text) => {
      const [id = '', name, code = null] = text.split('~');
      const outcome = outcomes.find((one) => one === name);
      const isCode = code === null || /^[a-z_]{1,60}$/.test(code);
      return outcome && isUuid(id) && isCode ? [{ id: id.toLowerCase(), outcome, code }] : [];
    });
}
