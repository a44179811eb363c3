// Errors of a request's fields in the person's language. The schemas of the API write them in
// English for programmers; a form shows them beside its fields.
import type { Translate, TextKey } from './texts.js';

const number = String.raw`(?<most>-?[\d.]+)`;

/** The first that matches a message says it. */
const meanings: readonly (readonly [RegExp, TextKey])[] = [
  [/^The field is required\.$|^Must not be empty\.$/, 'fieldError.required'],
  [/^Must be given once\.$/, 'fieldError.once'],
  [/^The externalId names a payment/, 'fieldError.otherTerms'],
  [/^A key must have 1 to 40/, 'fieldError.metadataKey'],
  [/^A rule with this name already exists\.$/, 'fieldError.nameTaken'],
  [/^Must have at most two decimals\.$/, 'fieldError.twoDecimals'],
  [/^Must be a number\.$/, 'fieldError.number'],
  [/^Must be a whole number/, 'fieldError.wholeNumber'],
  [/^Is too large\.$/, 'fieldError.tooLarge'],
  [/^Must be greater than zero\.$/, 'fieldError.positive'],
  [/^Must not be negative\.$/, 'fieldError.notNegative'],
  [/^Must be from (?<least>-?[\d.]+) to (?<most>-?[\d.]+?)\.$/, 'fieldError.between'],
  [/^Must be more than (?<least>[\d.]+) and at most (?<most>[\d.]+?)\.$/, 'fieldError.moreThan'],
  [new RegExp(`^Must have at most ${number} characters`), 'fieldError.maxCharacters'],
  [/^Must be at most (?<most>\d+): instalments must not share days\.$/, 'fieldError.sharedDays'],
  [/^Must have at most (?<most>\d+) days for a net settlement\.$/, 'fieldError.settlementDays'],
  [/^The window must have at most (?<most>\d+) days\.$/, 'fieldError.windowDays'],
  [new RegExp(`^Must be at most ${number}\\.$`), 'fieldError.atMost'],
  [new RegExp(`^Must have at most ${number} `), 'fieldError.tooMany'],
  [/^Must not be less than (min|amount|amountFrom)\.$/, 'fieldError.lessThanLeast'],
  [/^Must not be before /, 'fieldError.beforeFirst'],
  [/^Must not be after /, 'fieldError.afterLast'],
  [/^Could not be read as a date|^Must be a date/, 'fieldError.date'],
  [/^Must be a CPF or (a )?CNPJ/, 'fieldError.taxId'],
  [/^Must be a type’s name/, 'fieldError.typeName'],
  [/^Must be a valid pattern/, 'fieldError.pattern'],
  [/^Repeats too much/, 'fieldError.patternSize'],
  [/^Must not match (an empty|nearly every) text/, 'fieldError.patternOfAll'],
  [/printable ASCII characters/, 'fieldError.identifier'],
  [/^Must not contain NUL/, 'fieldError.storable'],
  [/^Must have document or notes/, 'fieldError.needsIdentity'],
  [/^Must have amount or window/, 'fieldError.needsAmountOrWindow'],
  [/^Is required if by contains window/, 'fieldError.required'],
  [/^Is allowed only if by contains amount/, 'fieldError.onlyByAmount'],
  [/^Is allowed only if by contains document/, 'fieldError.onlyByDocument'],
  [/^Must contain notes to group by notes/, 'fieldError.groupByNotes'],
  [/^Must contain document and window to group/, 'fieldError.groupByDay'],
  [/^Must have percent or perSale/, 'fieldError.feeBounds'],
  [/^Must have at least one condition to classify/, 'fieldError.needsCondition'],
  [/^amount, or amountFrom and amountTo/, 'fieldError.amountOrRange'],
  [/^Must not be sent with a range/, 'fieldError.notWithRange'],
  [/^A range has amountFrom and amountTo/, 'fieldError.wholeRange'],
  [/^Must be less than the amount/, 'fieldError.lessThanAmount'],
  [/^A range needs a reference/, 'fieldError.rangeNeedsIdentity'],
];

/** What is wrong with a field, in the person's language. */
export function fieldErrorText(t: Translate, message: string): string {
  for (const [pattern, key] of meanings) {
    const found = pattern.exec(message);
    if (found) return t(key, found.groups ?? {});
  }
  return t('fieldError.other');
}
