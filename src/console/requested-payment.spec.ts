// What approvers read of a stored request.
import { describe, expect, it } from '@jest/globals';
import { readRequestedPayment } from './requested-payment.js';

const request = (kind: string, counterparty: string, body: unknown) =>
  readRequestedPayment({ kind, counterparty, requestBody: JSON.stringify(body) });

describe('a requested payment', () => {
  it('to an account names its holder and the account that is compared', () => {
    const beneficiary = {
      ...{ number: '12.345-6', branch: '0001', participantIspb: '00000208' },
      holder: { name: 'Ana Souza', document: '123.456.789-09' },
    };
    const { party, description } = request('create_transfer', '208/1/123456', {
      ...{ amount: 10, description: 'Aluguel', beneficiary },
    });
    expect(party).toEqual({
      ...{ name: 'Ana Souza', taxId: '12345678909' },
      ...{ ispb: '00000208', branch: '0001', account: '123456' },
    });
    expect(description).toBe('Aluguel');
  });

  it('by key has the account of the look-up, and its id', () => {
    const body = { amount: 10, initiationType: 'KEY', endToEndId: 'E1' };
    const payment = request('create_transfer', '88888888/1/77', body);
    expect(payment.party).toMatchObject({ name: null, ispb: '88888888', account: '77' });
    expect(payment.endToEndId).toBe('E1');
  });

  it('within the bank has the number alone', () => {
    const payment = request('create_transfer', '1000002', { beneficiaryAccount: '100000-2' });
    expect(payment.party).toMatchObject({ ispb: null, branch: null, account: '1000002' });
  });

  it('of a bill has its digitable line, and of a refund the nsu', () => {
    const barCode = '00193373700000001000500940144816060680935031';
    expect(request('pay_bill', barCode, { barCode, payAt: '2026-12-01' })).toMatchObject({
      digitableLine: '00190500954014481606906809350314337370000000100',
      payAt: '2026-12-01',
    });
    expect(request('refund_pix', 'nsu 42', { amount: 1 })).toMatchObject({ refundedNsu: 42n });
  });

  it('without a body that can be read has nothing', () => {
    const none = { kind: 'create_transfer', requestBody: null, counterparty: null };
    expect(readRequestedPayment(none).party.account).toBeNull();
    expect(request('create_transfer', '1', ['a'])).toMatchObject({ description: null });
  });
});
