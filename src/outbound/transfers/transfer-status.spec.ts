import { describe, expect, it } from '@jest/globals';
import {
  readBatchElement,
  readTransferResponse,
  referencesOfTransfer,
  stateOfBankStatus,
} from './transfer-status.js';

describe('stateOfBankStatus', () => {
  it.each([
    ['PIX_PROCESSING', 'accepted'],
    ['PIX_WAITING_SPI_RESPONSE', 'accepted'],
    ['PIX_EFFECTIVE', 'effective'],
    ['EFFECTIVE', 'effective'],
    ['DONE', 'effective'],
    ['PIX_REFUND_PAYMENT_UPDATED', 'effective'],
    ['PIX_ERROR', 'failed'],
    ['ERROR', 'failed'],
  ])('reads %s as %s', (status, state) => expect(stateOfBankStatus(status)).toBe(state));

  it.each(['CANCELLED', 'done', ''])(
    'reads the undocumented status %p as accepted, neither effective nor failed',
    (status) => expect(stateOfBankStatus(status)).toBe('accepted'),
  );
});

describe('a transfer report', () => {
  const party = {
    number: '1',
    branch: '1',
    type: 'CURRENT',
    holder: { document: '1', name: 'X', type: 'LEGAL' },
    participant: { name: 'Y', ispb: '99999999' },
  };
  const response = {
    id: 'bank-1',
    status: 'PIX_ERROR',
    type: 'PIX_KEY',
    amount: 100n,
    createdAt: '2026-05-15T12:00:00Z',
    payer: party,
    beneficiary: party,
  };

  it('holds the status, the ids and the error code of a transfer response', () => {
    const report = readTransferResponse({
      ...response,
      endToEndId: 'E1',
      transactionNsu: 7n,
      error: { code: 'AC03' },
    });
    expect(report).toEqual({
      state: 'failed',
      bankStatus: 'PIX_ERROR',
      errorCode: 'AC03',
      bankId: 'bank-1',
      endToEndId: 'E1',
      nsu: 7n,
    });
    expect(referencesOfTransfer(report)).toEqual([
      { kind: 'nsu', value: '7' },
      { kind: 'movement_id', value: 'bank-1' },
      { kind: 'end_to_end_id', value: 'E1' },
    ]);
  });

  it('has no reference for an id that the response leaves out', () => {
    const report = readTransferResponse({ ...response, endToEndId: null });
    expect(referencesOfTransfer(report)).toEqual([{ kind: 'movement_id', value: 'bank-1' }]);
  });

  it('holds the status, the id and the error code of each batch item', () => {
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
