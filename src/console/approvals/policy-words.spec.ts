// The approval policy in words and as a form, and the cursor of what waits.
import { describe, expect, it } from '@jest/globals';
import { noApprovalPolicy } from '../../outbound/operations/approval-policy.js';
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

describe('the form of the policy', () => {
  const form = (fields: Record<string, string>) =>
    readPolicyForm(new URLSearchParams({ expiresAfterHours: '24', ...fields }), 'rule 7');

  it('reads amounts as people type them; an empty one is none', () => {
    const read = form({ aboveAmount: 'R$ 1.000,50', approvals: '2', kinds: 'pay_bill' });
    expect(read).toMatchObject({
      ok: true,
      policy: { aboveAmount: 100_050n, approvals: 2, kinds: ['pay_bill'], newBeneficiary: false },
    });
    expect(form({ aboveAmount: '' })).toMatchObject({ policy: { aboveAmount: null } });
  });

  it.each([
    [{ aboveAmount: 'x' }, ['policy.aboveAmount']],
    [{ aboveAmount: '-1' }, ['policy.aboveAmount']],
    [{ expiresAfterHours: '721' }, ['policy.hours']],
    [{ expiresAfterHours: 'soon' }, ['policy.hours']],
    [{ sources: 'nobody' }, ['policy.sources']],
  ])('names the wrong field of %j', (fields, wrong) => {
    expect(form(fields)).toEqual({ ok: false, wrong });
  });

  it('needs a reason', () => {
    expect(readPolicyForm(new URLSearchParams({ expiresAfterHours: '1' }), '')).toEqual({
      ok: false,
      wrong: ['app.reason'],
    });
  });
});

describe('the forms of payment controls', () => {
  it('remove a limit that is empty, and name one that is no amount', () => {
    const fields = { coolingOffHours: '24', nightFromHour: '20', nightUntilHour: '6' };
    const read = (more: object) =>
      readControlForm(new URLSearchParams({ ...fields, ...more }), 'rule 7');
    expect(read({ perDay: '10,00', allowList: 'yes' })).toMatchObject({
      ok: true,
      body: { allowList: true, checksPayee: false, limits: { perDay: 1_000n, perHour: null } },
    });
    expect(read({ perNight: 'ten', nightFromHour: '24' })).toEqual({
      ok: false,
      wrong: ['controls.limit.perNight', 'controls.nightFrom'],
    });
  });

  it('take one account of a beneficiary', () => {
    const read = (fields: Record<string, string>) =>
      readBeneficiaryForm(new URLSearchParams({ name: 'Ana', ...fields }), 'contract');
    expect(read({ accountNumber: '123' })).toMatchObject({ ok: true });
    expect(read({ ispb: '00000208', branch: '1', number: '2' })).toMatchObject({ ok: true });
    expect(read({})).toEqual({ ok: false, wrong: ['controls.account'] });
    expect(read({ accountNumber: '1', bill: '2' }).ok).toBe(false);
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
