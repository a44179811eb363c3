import { describe, expect, it } from '@jest/globals';
import { readBatchElement, readTransfer, referencesOf, stateOfStatus } from './bank-transfer.js';

describe('stateOfStatus', () => {
  it.each([
    ['PIX_PROCESSING', 'accepted'],
    ['PIX_WAITING_SPI_RESPONSE', 'accepted'],
    ['PIX_EFFECTIVE', 'effective'],
    ['EFFECTIVE', 'effective'],
    ['DONE', 'effective'],
    ['PIX_ERROR', 'failed'],
    ['ERROR', 'failed'],
  ])('%s is %s', (status, state) => expect(stateOfStatus(status)).toBe(state));

  it.each(['PIX_REFUND_PAYMENT_UPDATED', 'CANCELLED', 'done', ''])(
    'takes %p, which nobody has explained, for neither an end nor a failure',
    (status) => expect(stateOfStatus(status)).toBe('accepted'),
  );
});

describe('what the bank tells', () => {
  const party = {
    number: '1',
    branch: '1',
    type: 'CURRENT',
    holder: { document: '1', name: 'X', type: 'LEGAL' },
    participant: { name: 'Y', ispb: '99999999' },
  };
  const answer = {
    id: 'bank-1',
    status: 'PIX_ERROR',
    type: 'PIX_KEY',
    amount: 100n,
    createdAt: '2026-05-15T12:00:00Z',
    payer: party,
    beneficiary: party,
  };

  it('is its word, its ids and why it failed', () => {
    const told = readTransfer({
      ...answer,
      endToEndId: 'E1',
      transactionNsu: 7n,
      error: { code: 'AC03' },
    });
    expect(told).toEqual({
      state: 'failed',
      bankStatus: 'PIX_ERROR',
      errorCode: 'AC03',
      bankId: 'bank-1',
      endToEndId: 'E1',
      nsu: 7n,
    });
    expect(referencesOf(told)).toEqual([
      { kind: 'nsu', value: '7' },
      { kind: 'movement_id', value: 'bank-1' },
      { kind: 'end_to_end_id', value: 'E1' },
    ]);
  });

  it('names nothing that it does not tell', () => {
    const told = readTransfer({ ...answer, endToEndId: null });
    expect(referencesOf(told)).toEqual([{ kind: 'movement_id', value: 'bank-1' }]);
  });

  it('is told of each item of a batch', () => {
    const element = {
      ...{ id: 'bank-2', type: { name: 'INTERNAL' }, amount: 1n, createdAt: '' },
      ...{ sender: party, recipient: party },
    };
    expect(readBatchElement({ ...element, status: 'DONE' })).toMatchObject({
      state: 'effective',
      bankId: 'bank-2',
      errorCode: null,
    });
    const error = { code: 'insufficient_funds' };
    expect(readBatchElement({ ...element, status: 'ERROR', error })).toMatchObject({
      state: 'failed',
      errorCode: 'insufficient_funds',
    });
  });
});
