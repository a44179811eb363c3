// The coding of money: the category, cost centre and project that a company gives it, in words of
// its own.
import { z } from 'zod';
import { filledText, nameSchemas } from '../../bank-contract/wire.js';

export const codingNames = ['category', 'costCentre', 'project'] as const;
export type Coding = Record<(typeof codingNames)[number], string | null>;

const field = filledText(100).nullish();
export const codingFields = { category: field, costCentre: field, project: field };
/** What a rule, a reason code or a decision says of the money. */
export const codingBody = z.strictObject(codingFields);

const shownField = z.string().nullable();
export const shownCodingFields = {
  ...{ category: shownField, costCentre: shownField, project: shownField },
};
export const codingView = z.object(shownCodingFields);

export function toCoding(
  ...sources: readonly (z.output<typeof codingBody> | null | undefined)[]
): Coding {
  const first = (name: keyof Coding) =>
    sources.map((one) => one?.[name]).find((value) => value != null) ?? null;
  return {
    category: first('category'),
    costCentre: first('costCentre'),
    project: first('project'),
  };
}

nameSchemas({ Coding: codingBody, CodingView: codingView });
