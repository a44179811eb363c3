import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LosslessNumber } from 'lossless-json';
import { readDisputeReport } from './dispute-report.js';

const receivedAt = new Date('2026-03-02T12:00:00Z');
const endToEndId = 'E99999999202603021200abcdefghijk';
const read = (fields: Record<string, unknown>) =>
  readDisputeReport('MED_REQUESTED', fields, receivedAt);

describe('a report of a dispute', () => {
  it('is read with its Pix, amount and deadline', () => {
    const deadline = '2026-03-05T10:00:00Z';
    const fields = { id: 'med-1', endToEndId, amount: new LosslessNumber('10.50'), deadline };
    expect(read(fields)).toEqual({
      kind: 'med',
      status: 'reported',
      reference: endToEndId,
      endToEndId,
      amountCents: 1_050n,
      deadlineAt: new Date(deadline),
    });
  });

  it.each(['9999-12-31T23:59:59-23:00', '0000-01-01', '2026-02-32', '2026-03-05T10:00:61Z'])(
    'with the deadline %p, which no column holds, has that of its kind',
    (deadline) =>
      expect(read({ medId: 'x', deadline }).deadlineAt).toEqual(new Date('2026-03-05T12:00:00Z')),
  );

  it('without a deadline has that of its kind, and without an amount is about the whole Pix', () => {
    const report = { reference: 'x', endToEndId: null, amountCents: null };
    expect(read({ medId: 'x' })).toMatchObject({
      ...report,
      deadlineAt: new Date('2026-03-05T12:00:00Z'),
    });
    const infraction = readDisputeReport('INFRACTION_NOTIFICATION_CREATED', {}, receivedAt);
    expect(infraction).toMatchObject({ kind: 'infraction', reference: null });
    expect(infraction.deadlineAt).toEqual(new Date('2026-03-09T12:00:00Z'));
  });

  it.each([
    ['2026-03-05', '2026-03-05T23:59:59Z'],
    ['2026-03-05T10:00:00', '2026-03-05T10:00:00Z'],
    ['2026-03-05T10:00:00-03:00', '2026-03-05T13:00:00Z'],
    ['tomorrow', '2026-03-05T12:00:00Z'],
  ])('with the deadline %s ends at %s', (deadline, at) =>
    expect(read({ deadline }).deadlineAt).toEqual(new Date(at)),
  );

  it('is read from any fields', () => {
    const names = ['id', 'endToEndId', 'amount', 'deadline', 'protocol'];
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), fc.anything()), (fields) => {
        expect(read(fields).deadlineAt.getTime()).not.toBeNaN();
      }),
    );
  });
});
