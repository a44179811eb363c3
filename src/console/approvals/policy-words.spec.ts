// The approval policy in words and as a form, and the cursor of what waits.
import { describe, expect, it } from '@jest/globals';
import { noApprovalPolicy } from '../../outbound/operations/approval-policy.js';
import { AppError } from '../../platform/errors.js';
import type { Visit } from '../visit.js';
import { translateInto } from '../texts.js';
import { readBeneficiaryForm, readControlForm } from './control-form.js';
import { policyWords, readPolicyForm } from './policy-words.js';
import { isWaitingCursor, readWaitingCursor, writeWaitingCursor } from './waiting-cursor.js';

const t = translateInto('en');
const none = { ...noApprovalPolicy, aboveAmount: null };
const plain = (words: string[]) => words.join(' ').replaceAll('\u00a0', ' ');

describe('an approval policy in words', () => {
  it('is off without an amount and without new payees, whatever else it says', () => {
    expect(policyWords(t, { ...none, approvals: 2, kinds: ['pay_bill'] })).toEqual([
      'No payment needs approval: each is sent at once.',
    ]);
  });

  it('names amount, new payees, kinds, sources, approvals and expiry', () => {
    const words = policyWords(t, {
      ...{ ...none, aboveAmount: 123_456n, newBeneficiary: true, approvals: 2 },
      ...{ kinds: ['pay_bill', 'refund_pix'], sources: ['bulk'] },
    });
    expect(plain(words)).toBe(
      'Payments above R$ 1.234,56 need approval. ' +
        'Payments to somebody whom the account never paid need approval. ' +
        'Only for: Bill payment, Refund of a Pix. Only where the source is: Uploaded file. ' +
        'Two different people approve each payment. ' +
        'Without its approvals within 72 h, a payment expires and is not sent.',
    );
    expect(policyWords(t, { ...none, aboveAmount: 0n, newBeneficiary: true })[0]).toBe(
      'Every payment needs approval.',
    );
  });
});

const visitOf = (fields: Record<string, string>) =>
  ({ t, form: new URLSearchParams(fields) }) as unknown as Visit;

/** The fields that are wrong. */
function wrongIn(read: () => unknown): string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof AppError) return Object.keys(error.details.errors ?? {});
    throw error;
  }
  return [];
}

describe('the form of the policy', () => {
  const form = (fields: Record<string, string>) =>
    readPolicyForm(visitOf({ expiresAfterHours: '24', reason: 'rule 7', ...fields }));

  it('reads amounts as people type them; an empty one is none', () => {
    const read = form({ aboveAmount: 'R$ 1.000,50', approvals: '2', kinds: 'pay_bill' });
    expect(read).toMatchObject({
      ...{ aboveAmount: 100_050n, approvals: 2, kinds: ['pay_bill'], newBeneficiary: false },
    });
    expect(form({ aboveAmount: '' })).toMatchObject({ aboveAmount: null, approvals: 1 });
  });

  it.each([
    [{ aboveAmount: 'x' }, ['$.aboveAmount']],
    [{ aboveAmount: '-1' }, ['$.aboveAmount']],
    [{ expiresAfterHours: '721' }, ['$.expiresAfterHours']],
    [{ expiresAfterHours: 'soon' }, ['$.expiresAfterHours']],
    [{ expiresAfterHours: '' }, ['$.expiresAfterHours']],
    [{ sources: 'nobody' }, ['$.sources[0]']],
    [{ reason: ' ' }, ['$.reason']],
  ])('names the wrong field of %j', (fields: Record<string, string>, wrong) => {
    expect(wrongIn(() => form(fields))).toEqual(wrong);
  });
});

describe('the forms of payment controls', () => {
  const fields = { coolingOffHours: '24', nightFromHour: '20', nightUntilHour: '6', reason: 'x' };
  const read = (more: object) => readControlForm(visitOf({ ...fields, ...more }));

  it('remove a limit that is empty, and name one that is no amount', () => {
    expect(read({ perDay: '10,00', allowList: 'yes' })).toMatchObject({
      ...{ allowList: true, checksPayee: false, limits: { perDay: 1_000n, perHour: null } },
    });
    expect(wrongIn(() => read({ perNight: 'ten', nightFromHour: '24' })).sort()).toEqual([
      '$.limits.perNight',
      '$.nightFromHour',
    ]);
  });

  it('leave no hour as it was because it is empty', () => {
    expect(wrongIn(() => read({ coolingOffHours: '' }))).toEqual(['$.coolingOffHours']);
  });

  it('take one account of a beneficiary', () => {
    const readOne = (more: object) =>
      readBeneficiaryForm(visitOf({ name: 'Ana', reason: 'contract', ...more }));
    expect(readOne({ accountNumber: '123' })).toMatchObject({ accountNumber: '123' });
    const account = { ispb: '00000208', branch: '1', number: '2' };
    expect(readOne(account)).toMatchObject({ account });
    expect(wrongIn(() => readOne({}))).toEqual(['$']);
    expect(wrongIn(() => readOne({ accountNumber: '1', ...account }))).toEqual(['$']);
    expect(wrongIn(() => readOne({ ...account, branch: '' }))).toEqual(['$.account.branch']);
  });
});

describe('the cursor of what waits', () => {
  it('is the expiry and the id of a row, and nothing else', () => {
    const row = {
      dueAt: new Date('2026-11-24T10:00:00.123Z'),
      id: '01a20db5-3c8e-719f-af65-448533fc0c4f',
    };
    const cursor = writeWaitingCursor(row);
    expect(isWaitingCursor(cursor)).toBe(true);
    expect(readWaitingCursor(cursor)).toEqual(row);
    for (const wrong of [
      '',
      row.id,
      `2026-13-24T10:00:00.123Z ${row.id}`,
      `${cursor.slice(0, 24)} x`,
    ])
      expect(isWaitingCursor(wrong)).toBe(false);
  });
});
