import { fixtureAccounts } from '../accounts/fixtures.js';
import { proofOfOtherLine, type OtherLine } from './other-proof.js';

const [first, second] = fixtureAccounts;
const account = { id: 1, ...first };
const line: OtherLine = {
  typeName: 'CREDIT_TRANSFER_EXTERNAL',
  notes: 'TED',
  endToEndId: null,
  amountCents: 1_050n,
  isCredit: true,
};
const prove = (changes: Partial<OtherLine> = {}) =>
  proofOfOtherLine({ ...line, ...changes }, { id: 'ted', account, counterparty: null });

it('proves a TED by its sides, the account on the side of its sign', () => {
  expect(prove()).toMatchObject({
    id: 'ted',
    type: 'EXTERNAL',
    description: 'TED',
    payer: { participant: { ispb: '88888888' } },
    beneficiary: { number: first.number },
  });
  expect(prove({ isCredit: false, typeName: 'DEBIT_TRANSFER_EXTERNAL' })).toMatchObject({
    payer: { number: first.number },
    beneficiary: { participant: { ispb: '88888888' } },
  });
});

it('proves a Pix by its endToEndId, from the account of the bank that is named', () => {
  const counterparty = { id: 2, ...second };
  const pix = { ...line, typeName: 'CREDIT_PIX', endToEndId: 'E1' };
  expect(proofOfOtherLine(pix, { id: 'x', account, counterparty })).toMatchObject({
    endToEndId: 'E1',
    status: 'PIX_EFFECTIVE',
    payer: { number: second.number, participant: { ispb: '99999999' } },
  });
});

it('has no proof of anything else', () => {
  expect(prove({ typeName: 'DEBIT_FEE', isCredit: false })).toBeNull();
});
